"""Step 1: nothing is left at the provider before a Cluster goes. Pure.

a request to create it may be on its way    look for its token first
pending, and no machine is listed           wait: the provider would forget it, and launch
anything else                               delete; it refuses while it launches, so ask again
it denies having it                         gone, if that is what was asked for
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto

from quintant.core.clock import timestamp
from quintant.operators.infra.observe.answers import (
    ErrorClass,
    Failure,
    InfrastructureState,
    InfrastructureWord,
)
from quintant.operators.infra.observe.observed import ClusterMemory, Observed, ProviderQuestion
from quintant.operators.infra.plan.create import failed_search
from quintant.operators.infra.plan.decision import (
    NOTHING,
    SOON,
    Act,
    Action,
    PassDecision,
    elapsed,
    note,
    poll,
    remember,
    shown,
)
from quintant.operators.infra.plan.delete_request import (
    delete_overtime,
    going,
    possible_leak,
    repeat_delete,
    send_delete,
    target_of,
    with_accepted,
)
from quintant.operators.infra.plan.failures import (
    BUSY_SECONDS,
    MISSING_LOOKS,
    MISSING_PAUSE,
    MISSING_SECONDS,
)
from quintant.operators.infra.plan.status import DELETING, PAUSED, StatusChange, claim
from quintant.operators.infra.plan.steps import elsewhere
from quintant.operators.infra.plan.verdict import wanted_by

LAUNCH_PAUSE = 2.0
"""Seconds between looks at an infrastructure that lists no machine yet."""
LONGEST_PAUSE = 15.0
HOLD = 600.0
"""Seconds between looks at a deletion that waits for somebody; watches are faster."""
GONE_LOOKS = 2
"""IM sometimes brings back what it deleted, if its state is read at the wrong moment."""


class Removal(Enum):
    """What may be done to an infrastructure that is to go."""

    WAIT = auto()
    """Nothing: it may be about to launch machines that nobody would know of."""
    DELETE = auto()
    RISK = auto()
    """Delete it, though it may leave something: it was waited for long enough."""
    GOING = auto()
    """It is being deleted."""


def deletion_question(seen: Observed) -> ProviderQuestion | None:
    """What the provider is asked before anything is decided about a deletion."""
    if held_back(seen) is not None or seen.running:
        return None
    status = seen.status
    if status.cluster_id or status.duplicates:
        return ProviderQuestion.STATE
    return ProviderQuestion.FIND if _perhaps_created(seen) else None


def _perhaps_created(seen: Observed) -> bool:
    operation = seen.status.operation
    return operation is not None and operation.last_attempt_at is not None


def removal(state: InfrastructureState, since_created: float, grace: float) -> Removal:
    """What may be done to an infrastructure in this state."""
    if state.word is InfrastructureWord.DELETING:
        return Removal.GOING
    if state.word is InfrastructureWord.PENDING and not state.machines:
        return Removal.WAIT if since_created < grace else Removal.RISK
    return Removal.DELETE


def held_back(seen: Observed) -> PassDecision | None:
    """Why a deletion cannot go on now; None if it can, or nothing is left to do."""
    if seen.paused:
        said = "it is paused: nothing is deleted until it is not, or is released"
        return PassDecision(StatusChange(claims=(claim(PAUSED, True, "Paused", said),)), after=HOLD)
    if _nothing_there(seen) or seen.cluster.spec.deletion_policy == "Orphan":
        return None
    if seen.unresolved is not None:
        told = claim(DELETING, True, seen.unresolved.reason, _way_out(seen.unresolved.message))
        return PassDecision(StatusChange(claims=(told,)), after=HOLD)
    return None


def delete(seen: Observed) -> PassDecision:
    """The next thing to do on the way to nothing."""
    known = with_accepted(seen)
    decision = _next(known)
    if known is seen or decision.finished or (decision.act is None and decision.change == NOTHING):
        return decision
    return decision.plus(StatusChange({"operation": known.status.operation}))


def _next(seen: Observed) -> PassDecision:
    if (held := held_back(seen)) is not None:
        return held
    status = seen.status
    if seen.cluster.spec.deletion_policy == "Orphan":
        return _orphaned(seen)
    if _nothing_there(seen):
        return PassDecision(
            events=(note("Deleted", "nothing is left at the provider"),), finished=True
        )
    if seen.running:
        return PassDecision(going("waits for a request that is under way"), after=seen.poll_max)
    if not status.cluster_id and not status.duplicates:
        return _looked_for(seen)
    return _told(seen)


def _nothing_there(seen: Observed) -> bool:
    return not (seen.status.cluster_id or seen.status.duplicates or _perhaps_created(seen))


def _orphaned(seen: Observed) -> PassDecision:
    id = seen.status.cluster_id or "none that is known"
    said = f"infrastructure {id} is left at the provider, as deletionPolicy Orphan says"
    return PassDecision(events=(note("Orphaned", said),), finished=True)


def _looked_for(seen: Observed) -> PassDecision:
    """A request to create it may have been carried out."""
    operation = seen.status.operation
    if isinstance(seen.found, Failure):
        return failed_search(seen, seen.found)
    if seen.found:
        first, *others = seen.found
        fields = {"cluster_id": first, "created": timestamp(seen.now), "duplicates": tuple(others)}
        event = note("Adopted", f"found infrastructure {first}, to be deleted")
        return PassDecision(
            StatusChange(fields), events=(event,), after=SOON, memory=ClusterMemory()
        )
    settle = seen.binding.settle_seconds if seen.binding is not None else 0.0
    rest = settle - elapsed(seen, operation.last_attempt_at if operation is not None else None)
    if rest > 0:
        said = "waits for a request to create it, which may still be carried out"
        return PassDecision(going(said), after=min(rest + 0.5, BUSY_SECONDS))
    return PassDecision(events=(note("Deleted", "nothing was created"),), finished=True)


def _told(seen: Observed) -> PassDecision:
    match seen.state:
        case Failure(kind=ErrorClass.NOT_FOUND):
            return _denied(seen)
        case Failure() as failure:
            return failed_search(seen, failure).plus(going(failure.message, failure.reason))
        case None:
            return PassDecision(after=seen.poll_min)
        case state:
            return _there(seen, state, remember(seen.memory, state, seen.now))


def _denied(seen: Observed) -> PassDecision:
    """The provider has no such infrastructure: right away believed only if it was asked to."""
    status, memory = seen.status, seen.memory
    if elsewhere(seen) and not _accepted(seen):
        said = "the provider at this address is another one, and does not know the infrastructure"
        return PassDecision(going(_way_out(said), "BindingMismatch"), after=HOLD)
    since = memory.missing_since or seen.now
    memory = replace(memory, missing=memory.missing + 1, missing_since=since, looked=seen.now)
    sure = memory.missing >= MISSING_LOOKS and (seen.now - since).total_seconds() >= MISSING_SECONDS
    if not (sure or (_accepted(seen) and memory.missing >= GONE_LOOKS)):
        if _accepted(seen):
            return PassDecision(after=seen.poll_min, memory=memory)
        said = "the provider does not know it; it is asked again to be sure"
        return PassDecision(going(said), after=MISSING_PAUSE, memory=memory)
    if status.duplicates:
        rest = {"duplicates": status.duplicates[1:], "operation": None}
        return PassDecision(StatusChange(rest), after=SOON, memory=ClusterMemory())
    said = f"infrastructure {status.cluster_id} is gone"
    return PassDecision(events=(note("Deleted", said),), finished=True)


def _accepted(seen: Observed) -> bool:
    operation = seen.status.operation
    return (
        operation is not None
        and operation.type == "Delete"
        and operation.token == target_of(seen)
        and operation.attempt > 0
    )


def _there(seen: Observed, state: InfrastructureState, memory: ClusterMemory) -> PassDecision:
    own = not seen.status.duplicates
    look = StatusChange({"infrastructure": shown(seen, state, wanted_by(seen))} if own else {})
    since = elapsed(seen, seen.status.created)
    match removal(state, since, seen.timeout("launch_grace")):
        case Removal.WAIT:
            said = "the provider prepares machines and lists none yet: it is deleted once it does"
            return PassDecision(look + going(said, "Launching"), after=LAUNCH_PAUSE, memory=memory)
        case Removal.GOING:
            after = min(poll(seen, memory), LONGEST_PAUSE)
            change = look + going("the provider deletes it") + delete_overtime(seen)
            return PassDecision(change, after=after, memory=replace(memory, undeleted=0))
        case Removal.RISK:
            return send_delete(seen, look, memory, risk=True)
    if _accepted(seen):
        return repeat_delete(seen, look, memory)
    return send_delete(seen, look, memory)


def _way_out(said: str) -> str:
    return f"{said}; to let the Cluster go all the same, annotate it with quintant.dev/release=true"


def tidy(seen: Observed) -> PassDecision:
    """What follows from a look at an infrastructure with our token that should not be."""
    (first, *others), state = seen.status.duplicates, seen.state
    if isinstance(state, Failure):
        if state.kind is ErrorClass.NOT_FOUND:
            return PassDecision(StatusChange({"duplicates": tuple(others)}), after=SOON)
        return failed_search(seen, state)
    if state is None:
        return PassDecision(after=seen.poll_min)
    grace = seen.timeout("launch_grace")
    match removal(state, elapsed(seen, seen.status.created), grace):
        case Removal.WAIT | Removal.GOING:
            return PassDecision(after=LAUNCH_PAUSE)
        case Removal.RISK:
            event = note("PossibleLeak", possible_leak(first), warning=True)
            return PassDecision(
                act=Act(Action.DELETE, target=first), events=(event,), after=BUSY_SECONDS
            )
    return PassDecision(act=Act(Action.DELETE, target=first), after=BUSY_SECONDS)
