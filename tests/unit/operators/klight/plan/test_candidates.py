"""Whom to join now, who founds, how long to wait."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.core.clock import Random
from quintant.core.object import Request
from quintant.operators.klight.observe.membership import Membership
from quintant.operators.klight.observe.memory import Memory
from quintant.operators.klight.observe.view import Observed
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan import candidates
from quintant.operators.klight.plan.candidates import WITNESSES, Proof, knows, proof_of, witnesses
from quintant.wire.peeradmin import Member, MemberState, StatusResponse
from unit.operators.klight.plan.peers import peer

KEY = Request("a", "ns")
OPTIONS = Options()


def observed(*names: str, stack: tuple[str, ...] = ()) -> Observed:
    """A network of these candidates and members."""
    return Observed(KEY, tuple(map(peer, stack)), tuple(map(peer, names)))


def test_those_come_first_who_failed_least_and_nobody_who_is_not_due() -> None:
    memory, random = Memory(), Random(1)
    for name, times in (("tired", 3), ("once", 1)):
        for _ in range(times):
            memory.attempts.failed(name, 0.0, random)
    memory.attempts.wait("later", 200.0)
    network = observed("tired", "later", "once", "new")
    assert [each.uid for each in candidates.due(network, memory, 100.0)] == ["new", "once", "tired"]


def test_network_that_is_to_be_founded_looks_at_all() -> None:
    names = [f"p{number}" for number in range(candidates.BATCH + 10)]
    assert len(candidates.due(observed(*names), Memory(), 0.0)) == len(names)
    joined = observed(*names, stack=("member",))
    assert len(candidates.due(joined, Memory(), 0.0)) == candidates.BATCH


def test_pods_that_keep_coming_delay_the_founding_only_so_long() -> None:
    memory, most = Memory(), candidates.SPELLS * OPTIONS.found_after
    memory.count(1, 0.0)
    assert candidates.founding_pause(OPTIONS, memory, False, 0.0) == OPTIONS.found_after
    memory.count(2, most - 0.1)
    assert candidates.founding_pause(OPTIONS, memory, False, most) == 0.0


def test_former_members_are_waited_for() -> None:
    former, fresh = peer("former", generation=2), peer("fresh")
    network = Observed(KEY, (), (former, fresh))
    assert candidates.absent(network, [fresh])
    assert not candidates.absent(network, [fresh, former])
    memory = Memory(memberless=10.0)
    pause = candidates.founding_pause(OPTIONS, memory, True, 11.0)
    assert pause == candidates.RETURN_SECONDS - 1.0


def test_founder_knows_most_others_then_has_most_then_is_oldest() -> None:
    ready = [peer("young", made="3"), peer("old", made="1"), peer("rich", made="4"), peer("known")]
    told: dict[str, StatusResponse | None] = {
        each.uid: StatusResponse(each.address) for each in ready
    }
    told["rich"] = StatusResponse("rich:9081", clients=5)
    told["known"] = StatusResponse("known:9081", members=(Member("x"), Member("known:9081")))
    told["old"] = None
    found = candidates.founder_first(ready, told)
    assert [each.uid for each in found] == ["known", "rich", "old", "young"]


def test_peer_of_another_make_that_was_down_a_moment_is_left_alone() -> None:
    joiner, memory = peer("p", generation=1), Memory()
    assert candidates.eviction_pause(joiner, memory, 10.0, 11.0) == 0.0
    memory.foreign.add("p")
    assert candidates.eviction_pause(joiner, memory, 10.0, 11.0) == 4.0
    assert candidates.eviction_pause(peer("p"), memory, 10.0, 11.0) == 0.0


@pytest.mark.parametrize(("late", "seconds"), [(0, 11.0), (1, 21.0), (2, 41.0), (9, 41.0)])
def test_join_that_was_late_may_take_longer(late: int, seconds: float) -> None:
    assert candidates.join_deadline(OPTIONS, late, 100) == seconds


def test_pod_that_was_there_before_this_process_may_have_been_joined() -> None:
    began = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert candidates.precedes(peer("p", made="2026-01-01T11:59:59Z"), began)
    assert candidates.precedes(peer("p", made="2026-01-01T12:00:00Z"), began)
    assert not candidates.precedes(peer("p", made="2026-01-01T12:00:01Z"), began)


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0, 1e6))
def test_next_look_is_when_the_first_is_due_and_never_at_once(
    now: float, sweep: float, due: float
) -> None:
    memory = Memory(next_probe=sweep)
    memory.attempts.wait("p", due)
    pause = candidates.next_look(observed("p"), memory, now)
    assert pause == max(candidates.PACE_SECONDS, min(sweep, due) - now)
    memory.paused = True
    assert candidates.next_look(observed("p"), memory, now) >= pause


def test_who_has_another_network_to_leave_is_not_joined() -> None:
    mine, record = peer("mine"), Membership("ns/b", "moved", "moved:9081", "2026", "founder")
    elsewhere = replace(peer("moved"), record=record)
    assert candidates.waiting(Observed(KEY, (), (mine, elsewhere))) == [mine]


@pytest.mark.parametrize(
    ("adopt", "unsettled", "older", "proof"),
    [
        ("query", False, False, Proof.NONE),
        ("query", False, True, Proof.CONTENTS),
        ("query", True, False, Proof.CONTENTS),
        ("assume", False, True, Proof.ASSUMED),
        ("assume", True, True, Proof.CONTENTS),
        ("assume", False, False, Proof.NONE),
        ("join", True, True, Proof.NONE),
    ],
)
def test_peer_of_another_make_needs_as_much_proof_as_there_is_doubt(
    adopt: Literal["query", "assume", "join"], unsettled: bool, older: bool, proof: Proof
) -> None:
    assert proof_of(Options(adopt=adopt), unsettled=unsettled, older=older) is proof


def test_contacts_that_a_peer_knows_are_its_witnesses_but_not_too_many() -> None:
    stack = [peer(str(number)) for number in range(9)]
    known = tuple(Member(f"{number}:9081") for number in range(2, 9))
    found = witnesses(peer("me"), StatusResponse("me:9081", members=known), stack)
    assert found == stack[2 : 2 + WITNESSES]
    assert witnesses(peer("me"), StatusResponse("me:9081"), stack) == []


def test_witness_must_know_the_peer_too() -> None:
    me, mine = peer("me"), StatusResponse("other:1")
    assert knows(StatusResponse("c", members=(Member("me:9081"),)), me, mine)
    assert knows(StatusResponse("c", members=(Member("other:1"),)), me, mine)
    assert not knows(
        StatusResponse("c", members=(Member("me:9081", state=MemberState.DOWN),)), me, mine
    )
    assert not knows(StatusResponse("c"), me, mine)
    assert not knows(None, me, mine)


@pytest.mark.parametrize(
    ("blank", "mine", "theirs", "same"),
    [
        (True, (), (), False),
        (False, (), (), True),
        (None, (), (), False),
        (False, (b"b", b"a"), (b"b", b"a"), True),
        (None, (b"b", b"a"), (b"b", b"a"), True),
        (False, (b"c", b"b", b"a"), (b"b", b"a"), True),
        (False, (b"b", b"a"), (b"c", b"b", b"a"), True),
        (False, (b"x",), (b"b", b"a"), False),
        (False, (), (b"a",), False),
        (False, (b"a",), (), False),
    ],
)
def test_one_chain_is_told_by_what_was_written_first(
    blank: bool | None, mine: tuple[bytes, ...], theirs: tuple[bytes, ...], same: bool
) -> None:
    assert candidates.same_chain(blank, mine, theirs) is same
