"""What is remembered between two looks at a network: who waits since when, and who is no more."""

from __future__ import annotations

from quintant.core.clock import Random
from quintant.operators.klight.observe.memory import Memory


def test_new_life_begins_anew() -> None:
    memory = Memory()
    first = memory.wait("uid", "first", 0.0)
    memory.attempts.failed("uid", 0.0, Random(1), after=300.0)
    assert memory.wait("uid", "first", 4.0) is first
    assert memory.wait("uid", "second", 5.0).since == 5.0
    assert memory.attempts.due("uid") < 5.0
    assert memory.attempts.failures("uid") == 0


def test_who_waits_no_more_is_due_at_once_the_next_time() -> None:
    memory = Memory()
    memory.wait("uid", "life", 0.0)
    memory.attempts.failed("uid", 0.0, Random(1))
    memory.waits_no_more("uid")
    assert memory.waits == {}
    assert memory.attempts.due("uid") < 0.0


def test_network_is_still_since_its_pods_are_as_many() -> None:
    memory = Memory()
    for pods, now in ((1, 1.0), (1, 2.0), (3, 3.0), (3, 4.0)):
        memory.count(pods, now)
    assert (memory.born, memory.still) == (1.0, 3.0)
    memory.count(0, 5.0)
    memory.count(1, 6.0)
    assert (memory.born, memory.still) == (6.0, 6.0)


def test_pods_that_are_no_more_are_forgotten() -> None:
    memory = Memory()
    memory.wait("gone", "life", 0.0)
    memory.attempts.failed("gone", 0.0, Random(1))
    memory.misses["gone"] = 1
    memory.warnings.allows("gone", "Waiting", 0.0)
    memory.foreign.add("gone")
    memory.retain({"there"})
    assert not any((memory.waits, memory.misses, memory.foreign, memory.attempts.failures("gone")))
    assert memory.warnings.allows("gone", "Waiting", 0.0)
