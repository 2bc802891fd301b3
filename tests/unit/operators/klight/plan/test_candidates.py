"""Whom to join now, who founds, how long to wait."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quintant.operators.klight.observed.membership import Membership
from quintant.operators.klight.observed.memory import JoinMemory, Memory, Wait, counted
from quintant.operators.klight.observed.network import Observed
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan import candidates
from quintant.wire.peeradmin import Member, StatusResponse
from unit.operators.klight.plan.peers import KEY, peer

OPTIONS = Options()


def observed(*names: str, stack: tuple[str, ...] = ()) -> Observed:
    """A network of these candidates and members."""
    return Observed(KEY, tuple(map(peer, stack)), tuple(map(peer, names)))


def test_those_come_first_who_failed_least_and_nobody_who_is_not_due() -> None:
    waits = {
        "tired": Wait("tired", 0.0, failures=3, due=90.0),
        "once": Wait("once", 0.0, failures=1, due=1.0),
        "later": Wait("later", 0.0, due=200.0),
    }
    network = observed("tired", "later", "once", "new")
    due = candidates.due(network, JoinMemory(waits), 100.0)
    assert [each.uid for each in due] == ["new", "once", "tired"]


def test_new_life_is_due_at_once() -> None:
    waits = {"p": Wait("before", 0.0, failures=9, due=500.0)}
    network, memory = observed("p"), JoinMemory(waits)
    assert [each.uid for each in candidates.due(network, memory, 100.0)] == ["p"]
    assert candidates.waits(network, memory, 100.0) == {"p": Wait("p", 100.0)}


def test_network_that_is_to_be_founded_looks_at_all() -> None:
    names = [f"p{number}" for number in range(candidates.BATCH + 10)]
    assert len(candidates.due(observed(*names), JoinMemory(), 0.0)) == len(names)
    joined = observed(*names, stack=("member",))
    assert len(candidates.due(joined, JoinMemory(), 0.0)) == candidates.BATCH


def test_pods_that_keep_coming_delay_the_founding_only_so_long() -> None:
    most = candidates.SPELLS * OPTIONS.found_after
    memory = counted(Memory(), 1, 0.0)
    assert candidates.founding_pause(OPTIONS, memory.join, False, 0.0) == OPTIONS.found_after
    memory = counted(memory, 2, most - 0.1)
    assert candidates.founding_pause(OPTIONS, memory.join, False, most) == 0.0


def test_former_members_are_waited_for() -> None:
    former, fresh = peer("former", generation=2), peer("fresh")
    network = Observed(KEY, (), (former, fresh))
    assert candidates.absent(network, [fresh])
    assert not candidates.absent(network, [fresh, former])
    memory = JoinMemory(memberless=10.0)
    pause = candidates.founding_pause(OPTIONS, memory, True, 11.0)
    assert pause == candidates.RETURN_SECONDS - 1.0


def test_founder_knows_most_others_then_has_most_then_is_oldest() -> None:
    ready = [peer("young", made="3"), peer("old", made="1"), peer("rich", made="4"), peer("known")]
    statuses: dict[str, StatusResponse | None] = {
        each.uid: StatusResponse(each.address) for each in ready
    }
    statuses["rich"] = StatusResponse("rich:9081", clients=5)
    statuses["known"] = StatusResponse("known:9081", members=(Member("x"), Member("known:9081")))
    statuses["old"] = None
    order = candidates.founder_first(ready, statuses)
    assert [each.uid for each in order] == ["known", "rich", "old", "young"]


def test_peer_of_another_make_that_was_down_a_moment_is_left_alone() -> None:
    joiner = peer("p", generation=1)
    assert candidates.eviction_pause(joiner, False, 10.0, 11.0) == 0.0
    assert candidates.eviction_pause(joiner, True, 10.0, 11.0) == 4.0
    assert candidates.eviction_pause(peer("p"), True, 10.0, 11.0) == 0.0


@pytest.mark.parametrize(("late", "seconds"), [(0, 11.0), (1, 21.0), (2, 41.0), (9, 41.0)])
def test_join_that_was_late_may_take_longer(late: int, seconds: float) -> None:
    assert candidates.join_deadline(OPTIONS, late, 100) == seconds


def test_who_has_another_network_to_leave_is_not_joined() -> None:
    mine, record = peer("mine"), Membership("ns/b", "moved", "moved:9081", "2026", "founder")
    elsewhere = replace(peer("moved"), record=record)
    assert candidates.waiting(Observed(KEY, (), (mine, elsewhere))) == [mine]
