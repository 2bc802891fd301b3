"""What may be done to an infrastructure that is to go, and to one that should not be. Pure."""

from __future__ import annotations

from enum import Enum, auto

from quintant.operators.infra.observed.answers import (
    ErrorClass,
    Failure,
    InfrastructureState,
    InfrastructureWord,
)
from quintant.operators.infra.observed.cluster import Observed
from quintant.operators.infra.plan.create import failed_search
from quintant.operators.infra.plan.decision import (
    SOON,
    Act,
    Action,
    PassDecision,
    elapsed,
    note,
)
from quintant.operators.infra.plan.delete_request import (
    possible_leak,
)
from quintant.operators.infra.plan.failures import (
    BUSY_SECONDS,
)
from quintant.operators.infra.plan.status import StatusChange

LAUNCH_PAUSE = 2.0
"""Seconds between looks at an infrastructure that lists no machine yet."""


class Removal(Enum):
    """What may be done to an infrastructure that is to go."""

    WAIT = auto()
    """Nothing: it may be about to launch machines that no record would name."""
    DELETE = auto()
    RISK = auto()
    """Delete it, though it may leave something: it was waited for long enough."""
    GOING = auto()
    """It is being deleted."""


def removal(state: InfrastructureState, since_created: float, grace: float) -> Removal:
    """What may be done to an infrastructure in this state."""
    if state.word is InfrastructureWord.DELETING:
        return Removal.GOING
    if state.word is InfrastructureWord.PENDING and not state.machines:
        return Removal.WAIT if since_created < grace else Removal.RISK
    return Removal.DELETE


def delete_duplicate(observed: Observed) -> PassDecision:
    """What follows from a look at an infrastructure with our token that should not be."""
    (first, *others), state = observed.status.duplicates, observed.state
    if isinstance(state, Failure):
        if state.kind is ErrorClass.NOT_FOUND:
            rest = StatusChange({"duplicates": tuple(others)})
            return PassDecision(rest, after=SOON, releases=(first,))
        return failed_search(observed, state)
    if state is None:
        return PassDecision(after=observed.poll_min)
    grace = observed.timeout("launch_grace")
    match removal(state, elapsed(observed, observed.status.created), grace):
        case Removal.WAIT | Removal.GOING:
            return PassDecision(after=LAUNCH_PAUSE)
        case Removal.RISK:
            event = note("PossibleLeak", possible_leak(first), warning=True)
            return PassDecision(
                act=Act(Action.DELETE, target=first), events=(event,), after=BUSY_SECONDS
            )
    return PassDecision(act=Act(Action.DELETE, target=first), after=BUSY_SECONDS)
