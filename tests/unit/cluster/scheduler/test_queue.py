"""Whose turn it is among pods that wait for a node."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.cluster.scheduler.queue import PATIENCE_SECONDS, SchedulingQueue
from unit.cluster.scheduler.samples import pod


def waiting(*names: str) -> SchedulingQueue:
    made = SchedulingQueue(lambda image, command: None)
    made.sync([pod(name) for name in names])
    return made


def test_new_pod_is_tried_at_once() -> None:
    assert len(waiting("p").ready(0.0, 0)) == 1


def test_refused_pod_waits_until_something_helps_and_a_while_has_passed() -> None:
    held = waiting("p")
    (entry,) = held.ready(0.0, 0)
    entry.back_off(0.0, 0)
    assert not held.ready(5.0, 0)
    assert held.ready(5.0, 1)
    assert not held.ready(0.5, 1)


def test_pause_doubles_up_to_a_limit() -> None:
    held = waiting("p")
    (entry,) = held.ready(0.0, 0)
    pauses = []
    for _ in range(6):
        entry.back_off(100.0, 0)
        pauses.append(entry.not_before - 100.0)
    assert pauses == [1, 2, 4, 8, 10, 10]
    entry.attempts = 5000
    entry.back_off(100.0, 0)
    assert entry.not_before == 110.0, "after hours of refusals, too"


def test_pod_is_tried_again_in_the_end_whatever_happens() -> None:
    held = waiting("p")
    (entry,) = held.ready(0.0, 0)
    entry.back_off(0.0, 0)
    assert held.next_delay(0.0, 0) == PATIENCE_SECONDS
    assert held.ready(PATIENCE_SECONDS, 0)


def test_placed_pod_is_left_alone_until_it_is_seen_with_its_node() -> None:
    held = waiting("p")
    (entry,) = held.ready(0.0, 0)
    entry.bound = True
    held.sync([pod("p", labels={"a": "b"})])
    assert not held.ready(0.0, 5)
    assert held.next_delay(0.0, 5) is None
    held.sync([pod("p", on="a")])
    assert not len(held)


@pytest.mark.parametrize(
    "spec",
    [{"schedulerName": "other"}, {"schedulingGates": [{"name": "g"}]}, {"nodeName": "a"}],
)
def test_pods_that_are_not_ours_to_place_are_left_out(spec: dict[str, Any]) -> None:
    held = SchedulingQueue(lambda image, command: None)
    held.sync([pod("p", **spec)])
    assert not len(held)


def test_changed_pod_is_tried_again() -> None:
    held = waiting("p")
    (entry,) = held.ready(0.0, 3)
    entry.back_off(0.0, 3)
    held.sync([pod("p", nodeSelector={"a": "b"})])
    assert held.ready(2.0, 3)


def test_important_pods_come_first_then_older_ones() -> None:
    held = SchedulingQueue(lambda image, command: None)
    held.sync([pod("b"), pod("a"), pod("z", priority=10)])
    assert [entry.pod_info.pod.metadata.name for entry in held.ready(0.0, 0)] == ["z", "a", "b"]
