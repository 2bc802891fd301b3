from __future__ import annotations

from quintant.api.coordination import Lease
from quintant.metrics import Registry
from quintant.runtime.shard.layout import LEADER, range_name
from quintant.runtime.shard.owned_ranges import OwnedRanges
from quintant.runtime.shard.plan import MEMBER_SECONDS
from quintant.runtime.shard.range_states import RangeEvent
from quintant.runtime.shard.shard_metrics import ShardMetrics
from quintant.testing.faults.match import kind, verb
from quintant.testing.loop import advance
from unit.runtime.shard.group_testbed import GRACE, GROUP, RANGES, Group, Member, a_group

EVERY = RANGES + 1
"""Ranges, the leader's among them."""


def value(member: Member, name: str, **labels: str) -> float | None:
    return Registry((member.metrics,)).value(f"quintant_shard_{name}", labels)


async def test_ranges_are_counted_by_their_state_when_they_are_scraped() -> None:
    owned = OwnedRanges(8, [])
    registry = Registry((ShardMetrics(owned),))
    for number in (LEADER, 1, 2):
        owned.step(number, RangeEvent.TAKEN, 5)
    owned.step(1, RangeEvent.FILLED)

    def ranges(state: str) -> float | None:
        return registry.value("quintant_shard_ranges", {"state": state})

    assert (ranges("filling"), ranges("held"), ranges("draining")) == (2, 1, 0)
    assert registry.value("quintant_shard_fence_closed", {}) == 1
    owned.is_open = lambda: True
    assert registry.value("quintant_shard_fence_closed", {}) == 0


async def test_what_a_group_looks_like_and_what_moved_is_told_by_each_member() -> None:
    async with a_group(2) as group:
        first, second = group.members
        assert [value(each, "members") for each in group.members] == [2, 2]
        assert [value(each, "unserved") for each in group.members] == [0, 0]
        assert sum(value(each, "ranges", state="held") or 0 for each in group.members) == EVERY
        count = len(first.held())
        work = first.begin()
        first.coordinator.set_leaving()
        await advance(GRACE / 2)
        work.end()
        await advance(5)

        assert value(first, "moves_total", move="released") == count
        assert value(first, "handover_seconds_count") == count
        assert (value(first, "handover_seconds_sum") or 0) >= GRACE / 2
        assert value(second, "moves_total", move="taken") == EVERY
        assert value(second, "members") == 1


async def test_what_keeps_a_range_longer_than_its_grace_is_named_until_it_has_ended() -> None:
    async with a_group(2) as group:
        first, _ = group.members
        work = first.begin()
        number = first.owned.range_of("ship", work.key)
        labels = {"range": range_name(number), "key": f"ship {work.key}"}
        first.coordinator.set_leaving()
        await advance(GRACE - 1)
        assert value(first, "overdue_seconds", **labels) is None
        await advance(11)
        assert GRACE < (value(first, "overdue_seconds", **labels) or 0) < GRACE + 12
        work.end()
        await advance(2)

        assert value(first, "overdue_seconds", **labels) is None


async def test_ranges_of_the_dead_are_unserved_until_they_are_taken_and_the_burial_counts() -> None:
    async with a_group(2) as group:
        first, second = group.members
        held = len(first.held())
        changes = second.faults.answer(409, when=verb("patch") & kind(Lease, name=GROUP))
        await first.die()
        await advance(MEMBER_SECONDS + 3)
        assert value(second, "unserved") == held
        changes.lift()
        await advance(3)

        assert value(second, "unserved") == 0
        assert value(second, "burials_total") == 1


async def test_without_a_map_every_range_is_unserved() -> None:
    async with a_group(0) as group:
        member = group.join()
        await advance(5)
        assert value(member, "unserved") == EVERY
        await advance(20)

        assert value(member, "unserved") == 0


async def test_what_others_take_away_is_lost() -> None:
    async with a_group(1) as group:
        (member,) = group.members
        await bury(group, member)
        await advance(5)

        assert value(member, "moves_total", move="lost") == EVERY


async def bury(group: Group, member: Member) -> None:
    await group.others.delete(await group.lease(f"{GROUP}-{member.id}"))
