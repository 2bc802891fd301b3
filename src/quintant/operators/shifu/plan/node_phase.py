"""How a node is: from its Ready condition and the time that has passed. Pure.

    READY ──not ready──> SUSPECT ──lost-after──> LOST ──ready──> RECOVERING ──stable-after──> READY
      ^                     │ ready                ^                 │ not ready
      └─────────────────────┘                      └─────────────────┘

A node that is gone, or tainted out-of-service, is LOST at once: that is a crash, not a bad network.
A node that was ill for a moment only is READY again at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from quintant.operators.shifu.rules.limits import NodePhase, PhaseTimes


@dataclass(frozen=True, slots=True)
class NodePhaseState:
    """The phase of a node, since when, and since when it has not been ready."""

    phase: NodePhase
    since: float
    unready_since: float | None = None
    crashed: bool = False
    """Whether it is known to be gone for good, and not only out of reach."""


@dataclass(frozen=True, slots=True)
class NodeReadiness:
    """What is seen of a node."""

    ready: bool
    crashed: bool = False
    """Tainted out-of-service, or its object is gone."""


def first_state(
    readiness: NodeReadiness, *, for_seconds: float, age: float, now: float, times: PhaseTimes
) -> NodePhaseState:
    """The state of a node that was so for a while before we came, and is so old."""
    since = now - for_seconds
    if readiness.crashed:
        return NodePhaseState(NodePhase.LOST, now, since, crashed=True)
    if not readiness.ready:
        lost = for_seconds >= times.lost_after
        return NodePhaseState(NodePhase.LOST if lost else NodePhase.SUSPECT, since, since)
    # One that became ready long after it was made was ill before; who knows for how long.
    returned = for_seconds < times.stable_after and age - for_seconds > times.lost_after
    return NodePhaseState(NodePhase.RECOVERING if returned else NodePhase.READY, since)


def step(
    state: NodePhaseState, readiness: NodeReadiness, now: float, times: PhaseTimes
) -> NodePhaseState:
    """The state that follows."""
    if readiness.crashed:
        if state.crashed:
            return state
        unready = now if state.unready_since is None else state.unready_since
        return NodePhaseState(NodePhase.LOST, now, unready, crashed=True)
    if readiness.ready:
        return _ready(replace(state, crashed=False), now, times)
    return _unready(state, now, times)


def due_at(state: NodePhaseState, times: PhaseTimes) -> float | None:
    """When the state changes by itself; None if it never does."""
    if state.phase is NodePhase.SUSPECT:
        return state.since + times.lost_after
    return state.since + times.stable_after if state.phase is NodePhase.RECOVERING else None


def _ready(state: NodePhaseState, now: float, times: PhaseTimes) -> NodePhaseState:
    match state.phase:
        case NodePhase.SUSPECT:
            return NodePhaseState(NodePhase.READY, now)
        case NodePhase.LOST:
            return NodePhaseState(NodePhase.RECOVERING, now)
        case NodePhase.RECOVERING if now - state.since >= times.stable_after:
            return NodePhaseState(NodePhase.READY, now)
    return state


def _unready(state: NodePhaseState, now: float, times: PhaseTimes) -> NodePhaseState:
    match state.phase:
        case NodePhase.READY:
            return _unready(NodePhaseState(NodePhase.SUSPECT, now, now), now, times)
        case NodePhase.RECOVERING:
            return NodePhaseState(NodePhase.LOST, now, now)
        case NodePhase.SUSPECT if now - state.since >= times.lost_after:
            return NodePhaseState(NodePhase.LOST, now, state.unready_since)
    return replace(state, crashed=False)
