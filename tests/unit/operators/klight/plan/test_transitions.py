"""What actions do to the memory, when they are decided and when they are carried out."""

from __future__ import annotations

import pytest

from quintant.core.clock import Random
from quintant.operators.klight.observed.membership import Membership
from quintant.operators.klight.observed.memory import (
    JoinMemory,
    LeaveMemory,
    Memory,
    ProbeMemory,
    Wait,
)
from quintant.operators.klight.plan.actions import (
    Action,
    Drop,
    End,
    Enrol,
    Erase,
    NoteIntent,
    Postpone,
    Save,
    Warn,
)
from quintant.operators.klight.plan.joiner import LONG_SECONDS
from quintant.operators.klight.plan.transitions import begun, done, until
from quintant.runtime.workqueue.attempts import JITTER
from unit.operators.klight.plan.peers import peer

PEER = peer("p")
RECORD = Membership("ns/a", "p", "p:9081", "2026", "founder")
ENROL = Enrol(PEER, RECORD, End.JOINED, "Joined", "")


def after(
    action: Action, memory: Memory = Memory(), now: float = 10.0, began: float = 10.0
) -> Memory:
    return begun(memory, action, began, now, Random(1))


def test_record_is_unsaved_until_it_is_written() -> None:
    join = JoinMemory({"p": Wait("p", 0.0)}, trouble="no room", memberless=1.0)
    memory = after(ENROL, Memory(join=join))
    assert memory.join == JoinMemory(unsaved={"p": RECORD})
    assert done(memory, ENROL).join == JoinMemory()
    assert done(memory, Save(PEER.pod, RECORD)).join == JoinMemory()


def test_failure_is_left_alone_twice_as_long_as_the_one_before() -> None:
    memory, before = Memory(), 0.0
    for failures in range(1, 5):
        memory = after(Postpone(PEER, "it is away"), memory)
        wait = memory.join.waits["p"]
        assert (wait.failures, wait.reason) == (failures, "it is away")
        assert wait.due - 10.0 > before * (1 - JITTER) / (1 + JITTER) * 1.9
        before = wait.due - 10.0


@pytest.mark.parametrize("backoff", [5.0, LONG_SECONDS])
def test_back_off_of_an_action_counts_give_or_take_a_fifth(backoff: float) -> None:
    for action in (Postpone(PEER, "", backoff=backoff), Drop(PEER, "", "", backoff)):
        due = after(action).join.waits["p"].due
        assert abs(due - 10.0 - backoff) <= JITTER * backoff


def test_time_that_a_slow_peer_took_to_answer_is_part_of_its_back_off() -> None:
    due = after(Postpone(PEER, "", backoff=LONG_SECONDS), began=10.0, now=50.0).join.waits["p"].due
    assert abs(due - 10.0 - LONG_SECONDS) <= JITTER * LONG_SECONDS


def test_join_of_unknown_outcome_is_left_alone_exactly_so_long_and_may_take_longer() -> None:
    memory = after(Postpone(PEER, "", end=End.UNSETTLED, backoff=30.0, unsettled=True))
    wait = memory.join.waits["p"]
    assert (wait.due, wait.unsettled, wait.late) == (40.0, True, 1)
    kept = after(Postpone(PEER, ""), memory).join.waits["p"]
    assert (kept.unsettled, kept.late) == (True, 1)
    settled = after(Postpone(PEER, "", unsettled=False), memory).join.waits["p"]
    assert (settled.unsettled, settled.late) == (False, 1)


def test_only_what_says_something_of_the_network_is_its_trouble() -> None:
    memory = after(Postpone(PEER, "no room", trouble=True))
    assert after(Postpone(PEER, "away"), memory).join.trouble == "no room"


def test_dropped_member_is_forgotten_and_may_join_at_once() -> None:
    memory = Memory(join=JoinMemory(unsaved={"p": RECORD}), probe=ProbeMemory(misses={"p": 3}))
    assert after(Drop(PEER, "PeerDown", ""), memory) == Memory()


def test_intent_is_known_once_it_is_written_and_until_it_is_withdrawn() -> None:
    memory = done(Memory(), NoteIntent(PEER.pod, {}))
    assert memory.join.intents == {"p"}
    assert done(memory, Postpone(PEER, "")).join.intents == {"p"}
    assert done(memory, Postpone(PEER, "", withdraws=True)).join.intents == set()


def test_pod_has_left_once_its_record_is_gone() -> None:
    erase = Erase(PEER.pod, {}, None, None)
    leave = LeaveMemory({"p": PEER.key}, {"p": PEER.pod}, waits={"p": Wait("p", 0.0)})
    memory = after(erase, Memory(leave=leave))
    assert memory.leave == leave
    assert done(memory, erase).leave == LeaveMemory(ended=frozenset({"p"}))


def test_pod_that_moved_and_is_still_in_sight_is_not_looked_for() -> None:
    erase = Erase(PEER.pod, {}, None, None)
    memory = Memory(leave=LeaveMemory(waits={"p": Wait("p", 0.0)}))
    assert done(memory, erase) == Memory()


def test_waiting_without_a_failure_counts_none() -> None:
    memory = until(Memory(), PEER, 12.0, 10.0, "it was down")
    assert memory.join.waits == {"p": Wait("p", 10.0, reason="it was down", due=12.0)}
    assert until(memory, PEER, 13.0, 11.0).join.waits["p"].reason == "it was down"


def test_other_actions_change_nothing() -> None:
    warn = Warn(PEER.pod, "", "")
    assert after(warn) == done(Memory(), warn) == Memory()
