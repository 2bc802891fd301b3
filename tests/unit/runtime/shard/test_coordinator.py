from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

import quintant
from quintant.api.coordination import Lease, LeaseSpec
from quintant.core.errors import LeadershipLost
from quintant.core.object import ObjectMeta, Request
from quintant.runtime.shard.coordinator import SHORTEST_TURN_SECONDS, TURN_SECONDS
from quintant.runtime.shard.group_lease import HOLDER, MAP
from quintant.runtime.shard.layout import LEADER
from quintant.runtime.shard.member import FENCE_SECONDS, RENEW_SECONDS
from quintant.runtime.shard.plan import MEMBER_SECONDS
from quintant.runtime.shard.range_states import RangeState
from quintant.runtime.shard.shard_map import encode_map
from quintant.testing.faults.match import verb
from quintant.testing.loop import advance
from testbeds.call_counter import counted_calls
from unit.runtime.shard.group_testbed import FIRST_SECONDS, GRACE, GROUP, RANGES, a_group

SERVER = str(Path(quintant.__file__).parent / "cluster")

CALLS_OF_A_TURN = 430
"""Of a list of three Leases and a renewal, however many ranges there are."""
ALL = {LEADER, *range(RANGES)}


async def test_the_first_member_works_on_everything_when_no_map_before_can_be_worked_by() -> None:
    async with a_group(0) as group:
        only = group.join()
        await advance(MEMBER_SECONDS - 0.5)
        assert only.held() == set()
        await advance(5)

        assert only.held() == ALL
        assert only.work.begun[0] == ALL
        assert only.coordinator.trouble() == ""


async def test_members_that_start_together_have_equal_shares_and_limits() -> None:
    async with a_group(3) as group:
        held = [member.held() for member in group.members]

        assert set.union(*held) == ALL
        assert sum(map(len, held)) == len(ALL)
        assert sorted(member.count() for member in group.members) == [2, 3, 3]
        assert [member.work.members for member in group.members] == [3, 3, 3]


async def test_a_member_that_joins_gets_its_share_and_who_gives_forgets() -> None:
    async with a_group(1) as group:
        (first,) = group.members
        second = group.join()
        await advance(20)

        assert (first.count(), second.count()) == (4, 4)
        assert frozenset.union(*first.work.forgotten) == second.held()
        assert set((await group.shards()).epochs(second.id)) == second.held()


async def test_a_member_of_a_group_at_rest_does_little_in_a_turn() -> None:
    async with a_group(3):
        await advance(30)
        with counted_calls([SERVER]) as counter:
            await advance(10 * TURN_SECONDS)

    assert counter.calls / 3 / 10 <= CALLS_OF_A_TURN


async def test_a_range_is_taken_with_the_version_it_was_taken_on_as_its_epoch() -> None:
    async with a_group(1) as group:
        before = dict(group.members[0].owned.epochs)
        second = group.join()
        await advance(20)

        assert all(second.owned.epochs[number] > before[number] for number in second.held())


async def test_a_range_is_not_at_work_before_the_caches_are_filled() -> None:
    async with a_group(0) as group:
        only = group.join()
        only.work.filled.clear()
        await advance(FIRST_SECONDS)
        assert set(only.owned.within((RangeState.FILLING,))) == ALL
        only.work.filled.set()
        await advance(1)

        assert only.held() == ALL


async def test_a_range_that_was_given_while_it_was_filled_is_never_at_work() -> None:
    async with a_group(0) as group:
        only = group.join()
        only.work.filled.clear()
        await advance(FIRST_SECONDS)
        only.coordinator.set_leaving()
        await advance(3)
        only.work.filled.set()
        await advance(3)

        assert only.work.begun == []
        assert (await group.shards()).held == {}


async def test_who_leaves_gives_everything_and_the_last_one_leaves_the_name_to_anybody() -> None:
    async with a_group(2) as group:
        first, second = group.members
        await first.leave()
        await advance(3)
        assert second.held() == ALL
        await second.leave()

        assert (await group.lease()).spec.holder_identity == ""
        assert (await group.lease(f"{GROUP}-{second.id}")).spec.holder_identity == ""
        assert (await group.shards()).held == {}


async def test_a_map_that_the_last_member_left_is_gone_on_with_at_once() -> None:
    async with a_group(1) as group:
        await group.members[0].leave()
        second = group.join()
        await advance(8)

        assert second.held() == ALL


@pytest.mark.parametrize("moment", [0.0, 0.7, 1.4])
async def test_who_dies_is_replaced_within_twenty_seconds_and_its_lease_goes(
    moment: float,
) -> None:
    async with a_group(2) as group:
        first, second = group.members
        await advance(moment)
        await first.die()
        await advance(MEMBER_SECONDS - RENEW_SECONDS)
        assert second.held() != ALL
        await advance(20 - MEMBER_SECONDS + RENEW_SECONDS)

        assert second.held() == ALL
        assert await group.others.read(f"{GROUP}-{first.id}") is None


async def test_who_finds_itself_buried_ends_its_work_and_joins_under_another_name() -> None:
    async with a_group(1) as group:
        (member,) = group.members
        before = member.id
        work = member.begin()
        await group.change(
            await group.lease(f"{GROUP}-{before}"), Lease(spec=LeaseSpec(holder_identity=""))
        )
        await advance(3)
        assert work.was_cancelled()
        assert member.held() == set()
        work.end()
        await advance(FIRST_SECONDS)

        assert member.id != before
        assert frozenset(ALL) in member.work.forgotten
        assert member.held() == ALL


async def test_a_process_whose_lost_work_does_not_end_is_over_and_names_the_key() -> None:
    async with a_group(1) as group:
        (member,) = group.members
        work = member.begin()
        await group.others.delete(await group.lease(f"{GROUP}-{member.id}"))
        await advance(GRACE + 10)

        with pytest.raises(LeadershipLost, match=f"these do not end: ship {work.key}"):
            member.task.result()


async def test_a_range_waits_for_what_is_under_way_and_says_so_once_its_grace_is_over() -> None:
    async with a_group(1) as group:
        (member,) = group.members
        work = member.begin()
        with capture_logs() as logs:
            member.coordinator.set_leaving()
            await advance(GRACE - 1)
            assert not work.was_cancelled()
            await advance(6)
        assert work.was_cancelled()
        assert len((await group.shards()).held) == 1
        late = [entry for entry in logs if entry["event"] == "range is not given yet"]
        assert [entry["under_way"] for entry in late] == [[f"ship {work.key}"]]
        work.end()
        await advance(1)

        assert (await group.shards()).held == {}


async def test_what_is_under_way_when_a_process_ends_leaves_its_ranges_to_a_burial() -> None:
    async with a_group(2) as group:
        first, second = group.members
        first.begin()
        await first.die()
        await first.coordinator.end()

        assert (await group.lease(f"{GROUP}-{first.id}")).spec.holder_identity == "host_1"
        await advance(MEMBER_SECONDS + 5)
        assert second.held() == ALL


@pytest.mark.parametrize("change", ["deleted", "without a map", "another holder of a range"])
async def test_whose_map_was_changed_by_others_is_lost_and_works_by_a_new_one(change: str) -> None:
    async with a_group(1) as group:
        (member,) = group.members
        before, epochs = member.id, dict(member.owned.epochs)
        lease = await group.lease()
        if change == "deleted":
            await group.others.delete(lease)
        elif change == "without a map":
            await group.change(lease, Lease(metadata=annotated("")))
        else:
            shards = (await group.shards()).taken([3], "somebody", 1)
            await group.change(lease, Lease(metadata=annotated(encode_map(shards))))
        await advance(4)
        assert member.id != before
        await advance(FIRST_SECONDS + MEMBER_SECONDS)

        assert member.held() == ALL
        assert all(member.owned.epochs[number] > epochs[number] for number in ALL)


async def test_a_leader_of_a_version_without_shards_is_waited_for_and_named() -> None:
    async with a_group(0) as group:
        led = Lease(metadata=ObjectMeta(name=GROUP, namespace="default"), spec=leader(15))
        await group.others.create(led)
        member = group.join()
        await advance(5)
        assert "old_1 leads harbour, and is waited for" in member.coordinator.trouble()
        await advance(15 + FIRST_SECONDS)

        assert member.held() == ALL
        assert (await group.lease()).spec.holder_identity == HOLDER


async def test_a_map_that_cannot_be_read_is_not_overwritten_and_says_what_to_do() -> None:
    async with a_group(1) as group:
        (member,) = group.members
        await group.change(await group.lease(), Lease(metadata=annotated("{")))
        await advance(30)

        assert member.held() == set()
        assert (await group.lease()).metadata.annotations[MAP] == "{"
        assert "try: stop every replica, delete that Lease" in member.coordinator.trouble()


async def test_an_outage_closes_the_fence_moves_nothing_and_is_looked_at_again_after() -> None:
    async with a_group(2) as group:
        first, second = group.members
        before = [first.held(), second.held()]
        for member in group.members:
            member.faults.refuse()
        await advance(FENCE_SECONDS + 1)
        assert not first.owned.is_open()
        assert "cannot renew the Lease of a member" in first.coordinator.trouble()
        await advance(60)
        for member in group.members:
            member.faults.clear()
        await advance(5)

        assert [first.held(), second.held()] == before
        assert first.owned.is_open()
        assert first.work.begun[-1] == before[0]
        assert first.coordinator.trouble() == ""


async def test_equal_failures_in_a_row_are_logged_once() -> None:
    async with a_group(1) as group:
        group.members[0].faults.refuse()
        with capture_logs() as logs:
            await advance(30)

        said = [entry["why"] for entry in logs if entry["event"] == "shards do not move"]
        assert len(said) == len(set(said))


async def test_a_server_that_is_silent_is_said_to_be() -> None:
    async with a_group(1) as group:
        group.members[0].faults.stall()
        with capture_logs() as logs:
            await advance(30)

        said = {entry["why"] for entry in logs if entry["event"] == "shards do not move"}
        assert "cannot coordinate shards: no answer in time" in said


@pytest.mark.parametrize("late", [False, True])
async def test_answers_that_are_lost_cost_a_turn_and_nothing_else(late: bool) -> None:
    async with a_group(0) as group:
        first, second = group.join(), group.join()
        for member in group.members:
            member.faults.lose(verb("patch", "create"), late=late, times=2)
            member.faults.lose(verb("patch"), late=late, times=2, skip=8)
        await advance(FIRST_SECONDS + 15)

        assert (first.count(), second.count()) == (4, 4)
        assert set((await group.shards()).epochs(first.id)) == first.held()


@pytest.mark.parametrize("status", [409, 429, 500])
async def test_writes_that_are_refused_are_made_again(status: int) -> None:
    async with a_group(0) as group:
        first, second = group.join(), group.join()
        for member in group.members:
            member.faults.answer(status, when=verb("create"), times=1)
            member.faults.answer(status, when=verb("patch"), times=3, skip=6)
        await advance(FIRST_SECONDS + 20)
        assert (first.count(), second.count()) == (4, 4)

        await first.die()
        second.faults.answer(status, when=verb("patch"), times=2)
        await advance(25)
        assert second.held() == ALL
        assert set((await group.shards()).epochs(second.id)) == ALL


async def test_who_joins_while_another_one_leaves_gets_its_share() -> None:
    async with a_group(2) as group:
        first, second = group.members
        leaving = asyncio.ensure_future(first.leave())
        third = group.join()
        await leaving
        await advance(20)

        assert (second.count(), third.count()) == (4, 4)
        assert second.held() | third.held() == ALL


async def test_a_member_whose_machine_slept_writes_nothing_until_it_has_renewed() -> None:
    async with a_group(1) as group:
        (member,) = group.members
        assert member.owned.is_open()
        member.slept = FENCE_SECONDS + 1
        assert not member.owned.is_open()
        await advance(RENEW_SECONDS + 1)
        assert member.owned.is_open()


async def test_a_range_with_a_call_of_ten_minutes_stays_until_it_has_ended() -> None:
    async with a_group(2) as group:
        first, second = group.members
        key = Request("s1", "sea")
        number = first.owned.range_of("ship", key)
        owner, other = (first, second) if number in first.held() else (second, first)
        calls = [("ship", key)]
        owner.owned.calls = lambda: calls
        with capture_logs() as logs:
            leaving = asyncio.ensure_future(owner.leave())
            await advance(600)
        assert (await group.shards()).epochs(owner.id).keys() == {number}
        assert other.held() == ALL - {number}
        waits = [entry for entry in logs if entry["event"] == "range is not given yet"]
        assert "call of ship sea/s1" in str(waits)
        calls.clear()
        await advance(5)
        await leaving
        assert other.held() == ALL


async def test_members_of_another_layout_wait_until_the_last_one_has_left() -> None:
    async with a_group(1) as group:
        (old,) = group.members
        new = group.join(layout="y")
        await advance(20)
        assert new.held() == set()
        await old.leave()
        await advance(5)

        assert new.held() == ALL
        assert (await group.shards()).layout == "y"


async def test_at_rest_a_member_renews_its_lease_and_the_groups_is_renewed_now_and_then() -> None:
    async with a_group(2) as group:
        sent = [len(member.faults.seen(verb("patch", "create"))) for member in group.members]
        since = (await group.lease()).spec.renew_time
        await advance(100)
        after = [len(member.faults.seen(verb("patch", "create"))) for member in group.members]

        assert all(now - then <= 55 for now, then in zip(after, sent, strict=True))
        assert (await group.lease()).spec.renew_time != since


async def test_a_member_at_work_asks_for_leases_no_more_often_than_one_at_rest() -> None:
    async with a_group() as group:
        (only,) = group.members
        asked = len(only.faults.seen(verb("list")))
        for _ in range(200):
            work = only.begin()
            only.owned.sending(0)
            await advance(0.005)
            only.owned.sent(0, answered=True)
            work.end()
            await advance(0.005)

        assert len(only.faults.seen(verb("list"))) - asked <= 2 / TURN_SECONDS + 1


async def test_a_range_is_released_as_soon_as_its_last_write_is_answered() -> None:
    async with a_group() as group:
        (only,) = group.members
        only.owned.sending(0)
        only.coordinator.set_leaving()
        await advance(GRACE / 2)
        assert only.owned.state(0) is RangeState.DRAINING
        only.owned.sent(0, answered=True)
        await advance(SHORTEST_TURN_SECONDS)

        assert only.owned.state(0) is RangeState.FOREIGN


def leader(seconds: int) -> LeaseSpec:
    return LeaseSpec(holder_identity="old_1", lease_duration_seconds=seconds)


def annotated(text: str) -> ObjectMeta:
    return ObjectMeta(annotations={MAP: text})
