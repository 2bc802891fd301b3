"""What is remembered between two looks at a network: who waits since when, and who is no more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quintant.operators.klight.observed.membership import Membership
from quintant.operators.klight.observed.memory import (
    JoinMemory,
    LeaveMemory,
    Memory,
    ProbeMemory,
    Wait,
    counted,
    forgotten,
    retained,
    wait_of,
)
from quintant.runtime.workqueue.attempts import CAP_SECONDS, FIRST_SECONDS

RECORD = Membership("ns/a", "life", "p:9081", "2026", "founder")


def test_new_life_begins_again() -> None:
    known = Wait("first", 0.0, failures=1, due=300.0)
    assert wait_of({"uid": known}, "uid", "first", 4.0) is known
    assert wait_of({"uid": known}, "uid", "second", 5.0) == Wait("second", 5.0)
    assert wait_of({}, "uid", "first", 6.0) == Wait("first", 6.0)


@pytest.mark.parametrize(
    ("failures", "seconds"),
    [(0, FIRST_SECONDS), (1, 2 * FIRST_SECONDS), (2, 4 * FIRST_SECONDS), (999, CAP_SECONDS)],
)
def test_back_off_doubles_with_each_failure_up_to_its_cap(failures: int, seconds: float) -> None:
    assert Wait("life", 0.0, failures=failures).backoff == seconds


def test_failure_is_counted_and_delays_the_next_try() -> None:
    wait = Wait("life", 1.0, reason="why").failed(9.0)
    assert wait == Wait("life", 1.0, reason="why", failures=1, due=9.0)


def test_network_is_still_since_its_pods_are_as_many() -> None:
    memory = Memory()
    for pods, now in ((1, 1.0), (1, 2.0), (3, 3.0), (3, 4.0)):
        memory = counted(memory, pods, now)
    assert (memory.join.born, memory.join.still) == (1.0, 3.0)
    memory = counted(counted(memory, 0, 5.0), 1, 6.0)
    assert (memory.join.born, memory.join.still) == (6.0, 6.0)


def test_membership_that_is_over_leaves_no_trace_of_checks_records_and_intents() -> None:
    memory = Memory(
        join=JoinMemory(unsaved={"p": RECORD, "q": RECORD}, intents=frozenset("pq")),
        probe=ProbeMemory(misses={"p": 1}, missing={"p": 1, "q": 2}),
    )
    memory = forgotten(memory, "p")
    assert memory.join == JoinMemory(unsaved={"q": RECORD}, intents=frozenset("q"))
    assert memory.probe == ProbeMemory(missing={"q": 2})


def test_pods_that_are_no_more_are_forgotten() -> None:
    wait = Wait("life", 0.0)
    there = Memory(
        leave=LeaveMemory(waits={"there": wait}),
        join=JoinMemory(waits={"there": wait}, intents=frozenset({"there"})),
        probe=ProbeMemory(misses={"there": 1}, foreign=frozenset({"there"})),
    )
    memory = Memory(
        leave=replace(there.leave, waits={"there": wait, "gone": wait}),
        join=JoinMemory(
            waits={"gone": wait, "there": wait},
            unsaved={"gone": RECORD},
            intents=frozenset({"gone", "there"}),
        ),
        probe=ProbeMemory(
            misses={"there": 1, "gone": 1},
            missing={"gone": 1},
            ours={"gone": True},
            foreign=frozenset({"there", "gone"}),
        ),
    )
    assert retained(memory, {"there"}) == there
