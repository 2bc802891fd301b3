"""The step that checks members: which are asked what, and what is remembered of the answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quintant.operators.klight.observed.answers import PeerHealth
from quintant.operators.klight.observed.memory import Memory, ProbeMemory
from quintant.operators.klight.observed.network import Observed
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.actions import CountFailures, Drop
from quintant.operators.klight.plan.probe import ProbeStep
from quintant.operators.klight.plan.sweep import COMPARE_SWEEPS
from quintant.wire.lightpeer import Timestamp
from quintant.wire.peeradmin import LastOrder, Member, StatusResponse
from unit.operators.klight.plan.peers import KEY, Reply, asked_of, member, moment, replies, talk

STEP = ProbeStep(Options(probe_interval=10.0, down_after=30.0))
NETWORK = Observed(KEY, (member("c"), member("d"), member("e")))
QUIET = Memory(probe=ProbeMemory(sweeps=COMPARE_SWEEPS + 1))
"""Between two comparisons of chains."""


def sees(name: str, *names: str, order: LastOrder | None = None) -> StatusResponse:
    """What a peer of our own reports."""
    members = tuple(Member(f"{each}:9081") for each in names)
    return StatusResponse(f"{name}:9081", members=members, head="h", height=7, order=order)


def own(*names: str) -> dict[str, StatusResponse]:
    """Peers of our own that see each other."""
    return {name: sees(name, *names) for name in names}


def well(**changes: object) -> Reply:
    """Answers of three peers of our own that are well, but for these."""
    return replies(**{"check": PeerHealth.SERVING, "status": own("c", "d", "e"), **changes})


def probed(memory: Memory, reply: Reply) -> ProbeMemory:
    return talk(STEP, NETWORK, memory, reply)[0].memory.probe


def test_nothing_is_asked_before_it_is_time() -> None:
    memory = Memory(probe=ProbeMemory(due=5.0))
    decision, questions = talk(STEP, NETWORK, memory, well(), moment(4.0))
    assert (questions, decision.memory, decision.actions) == ([], memory, ())


def test_next_sweep_is_counted_from_the_beginning_of_this_one() -> None:
    decision, _ = talk(STEP, NETWORK, QUIET, well(), moment(7.0, began=4.0))
    assert 12.0 <= decision.memory.probe.due <= 16.0


def test_silent_member_is_asked_twice_and_the_last_answer_counts() -> None:
    checks = iter([PeerHealth.SERVING, PeerHealth.SILENT, PeerHealth.SERVING, PeerHealth.SERVING])
    others = well()
    decision, questions = talk(
        STEP, NETWORK, QUIET, lambda q: next(checks) if asked_of([q], "check") else others(q)
    )
    assert asked_of(questions, "check") == ["c", "d", "e", "d"]
    assert decision.memory.probe.misses == {}
    assert decision.actions == (CountFailures(0),)


def test_member_that_failed_too_often_is_dropped_and_forgotten() -> None:
    misses = replace(QUIET.probe, misses={"d": 2, "e": 1})
    checks = {"c": PeerHealth.SERVING, "d": PeerHealth.REFUSED, "e": PeerHealth.REFUSED}
    decision, _ = talk(STEP, NETWORK, Memory(probe=misses), well(check=checks))
    count, drop = decision.actions
    assert count == CountFailures(2)
    assert isinstance(drop, Drop)
    assert drop.peer.uid == "d"
    assert decision.memory.probe.misses == {"e": 2}


def test_contact_is_the_newest_of_our_own_and_tells_whom_it_sees() -> None:
    memory = Memory(probe=replace(QUIET.probe, foreign=frozenset({"c"})))
    decision, questions = talk(STEP, NETWORK, memory, well(status={"d": sees("d", "c", "d")}))
    assert asked_of(questions, "status") == ["d"]
    probe = decision.memory.probe
    assert (probe.missing, probe.head, probe.height) == ({"e": 1}, "h", 7)


@pytest.mark.parametrize(("before", "foreign"), [("", "c"), ("c", "cd"), ("cde", "")])
def test_members_are_tried_as_contacts_one_a_sweep_until_all_were(
    before: str, foreign: str
) -> None:
    memory = Memory(probe=replace(QUIET.probe, foreign=frozenset(before), missing={"e": 1}))
    probe = probed(memory, well(status=None))
    assert (probe.foreign, probe.missing, probe.height) == (frozenset(foreign), {}, 0)


def test_members_are_asked_of_writes_only_if_one_failed() -> None:
    failed = LastOrder(Timestamp(500), "no room")
    checks = {"c": PeerHealth.SERVING, "d": PeerHealth.FAILING, "e": PeerHealth.SERVING}
    statuses = own("c", "e") | {"d": sees("d", order=failed)}
    memory = Memory(probe=replace(QUIET.probe, foreign=frozenset({"e"})))
    decision, questions = talk(STEP, NETWORK, memory, well(check=checks, status=statuses))
    assert asked_of(questions, "status") == ["c", "d"]
    assert decision.memory.probe.unwritable == "the last write at d:9081 failed: no room"
    assert probed(QUIET, well()).unwritable == ""


def test_peers_of_our_own_are_not_asked_what_they_have() -> None:
    decision, questions = talk(STEP, NETWORK, Memory(), well())
    assert asked_of(questions, "newest") == []
    probe = decision.memory.probe
    assert (probe.ours, probe.forked) == (dict.fromkeys("cde", True), "")
    later = Memory(probe=replace(probe, due=0.0))
    assert asked_of(talk(STEP, NETWORK, later, well())[1], "status") == ["c"]


def test_peers_of_another_make_that_differ_twice_have_two_chains() -> None:
    memory, reply = Memory(), well(status=None, newest={"c": b"x", "d": b"y", "e": b"x"})
    memory = talk(STEP, NETWORK, memory, reply)[0].memory
    assert (memory.probe.forked, memory.probe.sweeps) == (None, 1)
    memory = replace(memory, probe=replace(memory.probe, due=0.0))
    memory = talk(STEP, NETWORK, memory, reply)[0].memory
    assert (memory.probe.forked or "").endswith(": ns/d")
