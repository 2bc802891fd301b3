"""What is remembered between two looks at a network: when to try, and when to speak again."""

from __future__ import annotations

from quintant.core.clock import Random
from quintant.operators.klight.observe.memory import CAP_SECONDS, LONG_SECONDS, Memory, postpone


def test_the_same_is_said_once_a_minute() -> None:
    memory = Memory()
    said = [memory.may_say("uid", "Waiting", now) for now in (0.0, 30.0, 59.0, 60.0, 61.0)]
    assert said == [True, False, False, True, False]
    assert memory.may_say("uid", "PeerDown", 61.0)
    assert memory.may_say("other", "Waiting", 61.0)


def test_pauses_double_to_their_cap_and_are_spread() -> None:
    memory, random, now = Memory(), Random(1), 0.0
    trial, pauses = memory.trial("uid", "life", now), []
    for _ in range(20):
        postpone(trial, now, random)
        pauses.append(trial.due - now)
        now = trial.due
    assert 0.4 <= pauses[0] <= 0.6
    assert max(pauses) <= CAP_SECONDS * 1.2
    assert min(pauses[8:]) >= CAP_SECONDS * 0.8
    assert len(set(pauses)) == 20


def test_what_only_a_human_can_mend_waits_long() -> None:
    memory = Memory()
    trial = memory.trial("uid", "life", 0.0)
    postpone(trial, 0.0, Random(1), long=True)
    assert trial.due >= LONG_SECONDS * 0.8


def test_new_life_begins_anew() -> None:
    memory = Memory()
    postpone(memory.trial("uid", "first", 0.0), 0.0, Random(1), long=True)
    assert memory.trial("uid", "second", 5.0).due == 5.0


def test_pods_that_are_no_more_are_forgotten() -> None:
    memory = Memory()
    memory.trial("gone", "life", 0.0)
    memory.misses["gone"] = 1
    memory.may_say("gone", "Waiting", 0.0)
    memory.foreign.add("gone")
    memory.forget({"there"})
    held = (memory.tries, memory.misses, memory.said, memory.foreign)
    assert not any(held)
