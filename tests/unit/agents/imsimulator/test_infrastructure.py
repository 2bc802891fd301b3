"""What an update of a simulated infrastructure adds and takes away."""

from __future__ import annotations

from quintant.agents.imsimulator.infrastructure import difference
from quintant.agents.imsimulator.template import MachineSpec

FRONT, WORKER = MachineSpec("front", 2, 1024), MachineSpec("worker", 2, 1024)


def test_missing_machines_are_added() -> None:
    assert difference({0: FRONT, 1: WORKER}, (FRONT, WORKER, WORKER)) == ([WORKER], [])


def test_the_newest_go_and_the_front_never_does() -> None:
    machines = {0: FRONT, 1: WORKER, 2: WORKER}
    assert difference(machines, (FRONT, WORKER)) == ([], [2])
    assert difference(machines, ()) == ([], [1, 2])


def test_the_same_template_changes_nothing() -> None:
    assert difference({0: FRONT, 1: WORKER}, (FRONT, WORKER)) == ([], [])


def test_another_size_is_another_machine() -> None:
    larger = MachineSpec("worker", 4, 1024)
    assert difference({0: FRONT, 1: WORKER}, (FRONT, larger)) == ([larger], [1])
