"""How a node is, step by step."""

from __future__ import annotations

import pytest

from quintant.operators.shifu.plan.node_phase import (
    NodePhaseState,
    NodeReadiness,
    due_at,
    first_state,
    step,
)
from quintant.operators.shifu.rules.limits import NodePhase, PhaseTimes

TIMES = PhaseTimes(lost_after=60.0, stable_after=120.0)
UP, DOWN, CRASHED = NodeReadiness(True), NodeReadiness(False), NodeReadiness(False, crashed=True)
READY, SUSPECT = NodePhase.READY, NodePhase.SUSPECT
LOST, RECOVERING = NodePhase.LOST, NodePhase.RECOVERING


@pytest.mark.parametrize(
    ("seen", "phases"),
    [
        # What is seen at which second, and the phase then.
        ([(0, DOWN), (59, DOWN), (60, DOWN)], [SUSPECT, SUSPECT, LOST]),
        ([(0, DOWN), (59, UP), (60, UP)], [SUSPECT, READY, READY]),
        ([(0, DOWN), (60, DOWN), (70, UP), (189, UP), (190, UP)],
         [SUSPECT, LOST, RECOVERING, RECOVERING, READY]),
        ([(0, DOWN), (60, DOWN), (70, UP), (80, DOWN)], [SUSPECT, LOST, RECOVERING, LOST]),
        ([(5, CRASHED), (6, CRASHED), (7, UP)], [LOST, LOST, RECOVERING]),
        ([(0, DOWN), (1, CRASHED), (2, DOWN)], [SUSPECT, LOST, LOST]),
    ],
)  # fmt: skip
def test_phases_follow_what_is_seen(
    seen: list[tuple[float, NodeReadiness]], phases: list[NodePhase]
) -> None:
    state, found = NodePhaseState(READY, -1000.0), []
    for now, what in seen:
        state = step(state, what, now, TIMES)
        found.append(state.phase)
    assert found == phases


def test_being_lost_counts_from_when_it_was_not_ready() -> None:
    state = step(NodePhaseState(READY, 0.0), DOWN, 10.0, TIMES)
    state = step(state, DOWN, 75.0, TIMES)
    assert (state.phase, state.unready_since, state.since) == (LOST, 10.0, 75.0)


@pytest.mark.parametrize(
    ("seen", "lasted", "age", "phase"),
    [
        (UP, 1.0, 5.0, READY),
        (UP, 500.0, 900.0, READY),
        (UP, 10.0, 900.0, RECOVERING),
        (DOWN, 10.0, 900.0, SUSPECT),
        (DOWN, 60.0, 900.0, LOST),
        (CRASHED, 0.0, 900.0, LOST),
    ],
)
def test_a_process_that_comes_later_sees_how_long_it_has_lasted(
    seen: NodeReadiness, lasted: float, age: float, phase: NodePhase
) -> None:
    found = first_state(seen, for_seconds=lasted, age=age, now=1000.0, times=TIMES)
    assert found.phase is phase


def test_only_states_that_end_by_themselves_are_due() -> None:
    assert due_at(NodePhaseState(SUSPECT, 5.0), TIMES) == 65.0
    assert due_at(NodePhaseState(RECOVERING, 5.0), TIMES) == 125.0
    assert due_at(NodePhaseState(READY, 5.0), TIMES) is None
    assert due_at(NodePhaseState(LOST, 5.0), TIMES) is None
