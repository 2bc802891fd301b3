"""Step 1: nothing is left at the provider before a Cluster goes. Pure.

a request to create it may be on its way    look for its marks first
pending, and no machine is listed           wait: the provider would forget it, and launch
anything else                               delete; it refuses while it launches, so ask again
it denies having it                         gone, if that is what was asked for
"""

from __future__ import annotations

from dataclasses import replace

from quintant.core.clock import timestamp
from quintant.operators.infra.observed.answers import (
    ErrorClass,
    Failure,
    InfrastructureState,
)
from quintant.operators.infra.observed.cluster import ClusterMemory, Observed, ProviderQuestion
from quintant.operators.infra.plan.create import failed_search
from quintant.operators.infra.plan.decision import (
    NOTHING,
    SOON,
    PassDecision,
    elapsed,
    note,
    poll,
    remember,
)
from quintant.operators.infra.plan.delete_request import (
    delete_overtime,
    deletion_change,
    repeat_delete,
    send_delete,
    target_of,
    with_accepted,
)
from quintant.operators.infra.plan.failures import (
    BUSY_SECONDS,
    MISSING_PAUSE,
    missed,
)
from quintant.operators.infra.plan.infrastructure import infrastructure_status
from quintant.operators.infra.plan.removal import LAUNCH_PAUSE, Removal, removal
from quintant.operators.infra.plan.search import perhaps_created, rival
from quintant.operators.infra.plan.status import DELETING, PAUSED, StatusChange, claim
from quintant.operators.infra.plan.steps import elsewhere

LONGEST_PAUSE = 15.0
HOLD = 600.0
"""Seconds between looks at a deletion that waits for the user; watches are faster."""
GONE_LOOKS = 2
"""IM sometimes brings back what it deleted, if its state is read at the wrong moment."""


def deletion_question(observed: Observed) -> ProviderQuestion | None:
    """What the provider is asked before anything is decided about a deletion."""
    if held_back(observed) is not None or observed.running:
        return None
    status = observed.status
    if status.cluster_id or status.duplicates:
        return ProviderQuestion.STATE
    return ProviderQuestion.FIND if perhaps_created(observed) else None


def held_back(observed: Observed) -> PassDecision | None:
    """Why a deletion cannot continue now; None if it can, or nothing is left to do."""
    if observed.paused:
        message = "it is paused: nothing is deleted until it is not, or is released"
        return PassDecision(
            StatusChange(claims=(claim(PAUSED, True, "Paused", message),)), after=HOLD
        )
    if lost_binding(observed):
        message = "it is bound to no cloud, so that its infrastructure cannot be deleted"
        unbound = claim(DELETING, True, "NotBound", _way_out(message))
        return PassDecision(StatusChange(claims=(unbound,)), after=HOLD)
    if _nothing_there(observed) or observed.cluster.spec.deletion_policy == "Orphan":
        return None
    if observed.unresolved is not None:
        condition_claim = claim(
            DELETING, True, observed.unresolved.reason, _way_out(observed.unresolved.message)
        )
        return PassDecision(StatusChange(claims=(condition_claim,)), after=HOLD)
    return None


def lost_binding(observed: Observed) -> bool:
    """Whether it has an infrastructure, and nothing says at which provider."""
    if observed.binding is not None or observed.unresolved is not None:
        return False
    noted = observed.noted_id
    has = observed.held or (noted and rival(observed, noted) is None)
    return bool(has) and observed.cluster.spec.deletion_policy != "Orphan"


def delete(observed: Observed) -> PassDecision:
    """The next thing to do on the way to nothing."""
    known = with_accepted(observed)
    decision = _next(known)
    if (
        known is observed
        or decision.finished
        or (decision.act is None and decision.change == NOTHING)
    ):
        return decision
    return decision.plus(StatusChange({"operation": known.status.operation}))


def _next(observed: Observed) -> PassDecision:
    if (held := held_back(observed)) is not None:
        return held
    status = observed.status
    if observed.cluster.spec.deletion_policy == "Orphan":
        return _orphaned(observed)
    if _nothing_there(observed):
        return PassDecision(
            events=(note("Deleted", "nothing is left at the provider"),), finished=True
        )
    if observed.running:
        return PassDecision(
            deletion_change("waits for a request that is under way"), after=observed.poll_max
        )
    if not status.cluster_id and not status.duplicates:
        return _looked_for(observed)
    return _state_known(observed)


def _nothing_there(observed: Observed) -> bool:
    status = observed.status
    known = status.cluster_id or status.duplicates or observed.held
    return not (known or perhaps_created(observed))


def _orphaned(observed: Observed) -> PassDecision:
    id = observed.status.cluster_id or "none that is known"
    message = f"infrastructure {id} is left at the provider, as deletionPolicy Orphan says"
    return PassDecision(last_event=note("Orphaned", message), finished=True)


def _looked_for(observed: Observed) -> PassDecision:
    """A request to create it may have been carried out."""
    operation = observed.status.operation
    if isinstance(observed.infrastructures, Failure):
        return failed_search(observed, observed.infrastructures)
    if observed.infrastructures:
        first, *others = observed.infrastructures
        fields = {
            "cluster_id": first,
            "created": timestamp(observed.now),
            "duplicates": tuple(others),
        }
        event = note("Adopted", f"found infrastructure {first}, to be deleted")
        return PassDecision(
            StatusChange(fields), events=(event,), after=SOON, memory=ClusterMemory()
        )
    settle = observed.binding.settle_seconds if observed.binding is not None else 0.0
    rest = settle - elapsed(observed, operation.last_attempt_at if operation is not None else None)
    memory, sure = missed(observed)
    if rest > 0 or not sure:
        message = "waits for a request to create it, which may still be carried out"
        after = min(rest + 0.5, BUSY_SECONDS) if rest > 0 else BUSY_SECONDS
        return PassDecision(deletion_change(message), after=after, memory=memory)
    return PassDecision(events=(note("Deleted", "nothing was created"),), finished=True)


def _state_known(observed: Observed) -> PassDecision:
    match observed.state:
        case Failure(kind=ErrorClass.NOT_FOUND):
            return _denied(observed)
        case Failure() as failure:
            return failed_search(observed, failure).plus(
                deletion_change(failure.message, failure.reason)
            )
        case None:
            return PassDecision(after=observed.poll_min)
        case state:
            return _there(observed, state, remember(observed.memory, state, observed.now))


def _denied(observed: Observed) -> PassDecision:
    """The provider has no such infrastructure: right away believed only if it was asked to."""
    status = observed.status
    if elsewhere(observed) and not _accepted(observed):
        message = (
            "the provider at this address is another one, and does not know the infrastructure"
        )
        return PassDecision(deletion_change(_way_out(message), "BindingMismatch"), after=HOLD)
    memory, sure = missed(observed)
    if not (sure or (_accepted(observed) and memory.missing >= GONE_LOOKS)):
        if _accepted(observed):
            return PassDecision(after=observed.poll_min, memory=memory)
        message = "the provider does not know it; it is asked again to be sure"
        return PassDecision(deletion_change(message), after=MISSING_PAUSE, memory=memory)
    if status.duplicates:
        rest = {"duplicates": status.duplicates[1:], "operation": None}
        first = status.duplicates[0]
        return PassDecision(
            StatusChange(rest), after=SOON, memory=ClusterMemory(), releases=(first,)
        )
    message = f"infrastructure {status.cluster_id} is gone"
    return PassDecision(events=(note("Deleted", message),), finished=True)


def _accepted(observed: Observed) -> bool:
    operation = observed.status.operation
    return (
        operation is not None
        and operation.type == "Delete"
        and operation.token == target_of(observed)
        and operation.attempt > 0
    )


def _there(observed: Observed, state: InfrastructureState, memory: ClusterMemory) -> PassDecision:
    own = not observed.status.duplicates
    look = StatusChange({"infrastructure": infrastructure_status(observed, state)} if own else {})
    since = elapsed(observed, observed.status.created)
    match removal(state, since, observed.timeout("launch_grace")):
        case Removal.WAIT:
            message = (
                "the provider prepares machines and lists none yet: it is deleted once it does"
            )
            return PassDecision(
                look + deletion_change(message, "Launching"), after=LAUNCH_PAUSE, memory=memory
            )
        case Removal.GOING:
            after = min(poll(observed, memory), LONGEST_PAUSE)
            change = look + deletion_change("the provider deletes it") + delete_overtime(observed)
            return PassDecision(change, after=after, memory=replace(memory, undeleted=0))
        case Removal.RISK:
            return send_delete(observed, look, memory, risk=True)
    if _accepted(observed):
        return repeat_delete(observed, look, memory)
    return send_delete(observed, look, memory)


def _way_out(message: str) -> str:
    return (
        f"{message}; to let the Cluster go all the same, annotate it with quintant.dev/release=true"
    )
