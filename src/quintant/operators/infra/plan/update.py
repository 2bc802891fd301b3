"""Step 4b: the template is sent again, once at a time. Pure.

The provider answers only when it is done, which may take many minutes. A second request while the
first is under way, or while the infrastructure is still being created, launches machines twice. So
one whose outcome is not known is followed by another only when nothing has moved for a while; it
then does what is left to do, which may be nothing.

    Prepared ──answer──> Submitted (wait until configured)
       │ answer lost, crash
       v
    Verifying ──no machine came or went for half a minute──> Prepared
"""

from __future__ import annotations

from dataclasses import replace

from quintant.api.events import PlannedEvent
from quintant.api.meta import ConditionClaim
from quintant.core.clock import timestamp
from quintant.core.object import replace as changed
from quintant.operators.infra.api.cluster_status import Operation
from quintant.operators.infra.observed.answers import (
    ErrorClass,
    Failure,
    InfrastructureState,
    InfrastructureWord,
)
from quintant.operators.infra.observed.cluster import (
    CallKind,
    ClusterMemory,
    LongCallId,
    Observed,
)
from quintant.operators.infra.plan.adoption import wanted_hash
from quintant.operators.infra.plan.decision import (
    SOON,
    Act,
    Action,
    PassDecision,
    advance,
    begin,
    elapsed,
    note,
    remember,
    unstalled,
)
from quintant.operators.infra.plan.diff import differences, irremovable, listed, machine_counts
from quintant.operators.infra.plan.failures import (
    TRANSIENT_SECONDS,
    denied,
    failed,
    reachable,
    rejected,
)
from quintant.operators.infra.plan.infrastructure import infrastructure_status
from quintant.operators.infra.plan.status import (
    IN_PROGRESS,
    INFRASTRUCTURE_READY,
    SYNCED,
    TEMPLATE_DRIFT,
    StatusChange,
    claim,
    reason_of,
)
from quintant.operators.infra.plan.verdict import NOTHING_LAUNCHED

BUSY_PAUSE = 5.0
QUIET_LOOKS, QUIET_SECONDS = 3, 30.0
"""How often, and for how long, the machines must have been the same."""
QUIET_AFTER = 60.0
"""Seconds after the request before which nothing is taken for quiet."""
QUIET_PAUSE = 10.0


def update(observed: Observed) -> PassDecision:
    """The next thing to do on the way to the template that is wanted."""
    operation = observed.status.operation
    if operation is not None and operation.phase == "Prepared":
        return _under_way(observed, operation)
    if observed.running:
        return PassDecision(after=observed.poll_max)
    match observed.state:
        case Failure(kind=ErrorClass.NOT_FOUND) as failure:
            return denied(observed, failure)
        case Failure() as failure:
            return failed(observed, failure)
        case None:
            return PassDecision(after=observed.poll_min)
        case state:
            memory = remember(observed.memory, state, observed.now)
            if operation is not None and operation.phase == "Verifying":
                return _verify(observed, operation, state, memory)
            if occupied(state) and not abandoned(observed, state):
                change = StatusChange(_look(observed, state), (reachable(observed),))
                return PassDecision(change, after=BUSY_PAUSE, memory=memory)
            return send(observed, state, memory)


def occupied(state: InfrastructureState) -> bool:
    """Whether a request now would be added to one that is being carried out."""
    return state.settled in (InfrastructureWord.PENDING, InfrastructureWord.DELETING)


def abandoned(observed: Observed, state: InfrastructureState) -> bool:
    """Whether the provider prepares for so long that it has given up."""
    reason = reason_of(observed.status.conditions, INFRASTRUCTURE_READY)
    pending = state.settled is InfrastructureWord.PENDING and not state.machines
    return pending and reason == NOTHING_LAUNCHED


def send(observed: Observed, state: InfrastructureState, memory: ClusterMemory) -> PassDecision:
    """Record the request, and make it."""
    before = observed.status.operation
    kind = before.type if before is not None and before.type == "Reconfigure" else "Update"
    fresh = before is None or before.type != kind
    attempt = 0 if fresh or before is None else before.attempt
    started = begin(observed, kind)
    operation = changed(
        started,
        token=before.token if before is not None and before.token else "",
        hash=wanted_hash(observed),
        attempt=attempt + 1,
        last_attempt_at=timestamp(observed.now),
        started_at=started.started_at if fresh or before is None else before.started_at,
    )
    claims = [reachable(observed), *_in_progress(observed), *unstalled(observed)]
    record = StatusChange({"operation": operation, **_look(observed, state)}, tuple(claims))
    act = Act(Action.LONG_CALL, record, CallKind.UPDATE)
    return PassDecision(act=act, events=_events(observed), after=observed.poll_max, memory=memory)


def _in_progress(observed: Observed) -> tuple[ConditionClaim, ...]:
    paths = listed(_changes(observed)) or "the same template"
    return (
        claim(SYNCED, False, "Updating", f"being applied: {paths}"),
        claim(INFRASTRUCTURE_READY, None, IN_PROGRESS, "it is being updated"),
    )


def _changes(observed: Observed) -> tuple[object, ...]:
    before, after = observed.last_applied, observed.cluster.spec.tosca
    if before is None or after is None:
        return ()
    return differences(before.value, after.value)


def _events(observed: Observed) -> tuple[PlannedEvent, ...]:
    events = [note("Updating", f"sends the template: {listed(_changes(observed)) or 'as it was'}")]
    before, after = observed.last_applied, observed.cluster.spec.tosca
    old = machine_counts(before.value) if before is not None else None
    new = machine_counts(after.value) if after is not None else None
    for name in sorted((old or {}).keys() & (new or {}).keys()):
        was, will = (old or {})[name], (new or {})[name]
        if was is not None and will is not None and was != will:
            message = f"{name}: from {was} to {will} machines"
            events.append(PlannedEvent("Normal", "Scaled", message, action=f"Scale-{name}-{will}"))
    return tuple(events)


def _under_way(observed: Observed, operation: Operation) -> PassDecision:
    """A request was recorded: it is under way, has ended, or was lost with the process."""
    mine = LongCallId(CallKind.UPDATE, operation.hash, operation.attempt)
    if observed.call != mine:
        return _unknown(observed)
    if observed.ended is None:
        return PassDecision(after=observed.poll_max)
    if observed.ended.failure is not None:
        return _not_applied(observed, operation, observed.ended.failure)
    return _applied(observed, operation)


def _unknown(observed: Observed) -> PassDecision:
    """Whether it was carried out is to be found out."""
    verifying = advance(observed, phase="Verifying")
    return PassDecision(StatusChange({"operation": verifying}), after=SOON, memory=ClusterMemory())


def _not_applied(observed: Observed, operation: Operation, failure: Failure) -> PassDecision:
    if failure.kind is ErrorClass.NOT_FOUND:
        back = rejected(operation, observed, TRANSIENT_SECONDS)
        return PassDecision(StatusChange({"operation": back}), after=TRANSIENT_SECONDS)
    decision = failed(observed, failure)
    if failure.applied is False:
        if "operation" in decision.change.fields:
            return decision
        back = rejected(operation, observed, decision.after or TRANSIENT_SECONDS)
        return decision.plus(StatusChange({"operation": changed(back, attempt=operation.attempt)}))
    # It is not known: nothing more is sent before it is quiet.
    verifying = replace(decision, after=QUIET_PAUSE, memory=replace(ClusterMemory(), failures=1))
    kept = {key: value for key, value in decision.change.fields.items() if key != "operation"}
    fields = {**kept, "operation": changed(operation, phase="Verifying")}
    return replace(verifying, change=StatusChange(fields, decision.change.claims))


def _applied(observed: Observed, operation: Operation) -> PassDecision:
    """The provider has it: what the document records after a successful request."""
    tosca = observed.cluster.spec.tosca
    known = tosca is not None and operation.hash == wanted_hash(observed)
    fields: dict[str, object] = {"operation": changed(operation, phase="Submitted")}
    claims = [reachable(observed)]
    if known:
        fields |= {"last_applied_tosca": tosca, "last_applied_hash": operation.hash}
        claims += _synced(observed)
    else:
        # What was sent is not what is wanted any more, and an update follows this one.
        fields |= {"last_applied_tosca": None, "last_applied_hash": operation.hash}
    return PassDecision(
        StatusChange(fields, tuple(claims)), after=observed.poll_min, memory=ClusterMemory()
    )


def _synced(observed: Observed) -> list[ConditionClaim]:
    before, after = observed.last_applied, observed.cluster.spec.tosca
    claims = [claim(SYNCED, True, "Applied", "the provider has the template")]
    if before is None or after is None:
        return claims
    kept = irremovable(differences(before.value, after.value))
    if kept:
        message = (
            f"the provider only merges templates, and keeps what was taken out: {listed(kept)}"
        )
        claims.append(claim(TEMPLATE_DRIFT, True, "NotRemoved", message))
    return claims


def _verify(
    observed: Observed, operation: Operation, state: InfrastructureState, memory: ClusterMemory
) -> PassDecision:
    """Wait until nothing moves; then send it again."""
    change = StatusChange(_look(observed, state), (reachable(observed),))
    unchanged = (observed.now - (memory.since or observed.now)).total_seconds()
    quiet = (
        memory.looks >= QUIET_LOOKS
        and unchanged >= QUIET_SECONDS
        and elapsed(observed, operation.last_attempt_at) >= QUIET_AFTER
        and not state.waiting
        and not occupied(state)
    )
    if not quiet:
        return PassDecision(change, after=QUIET_PAUSE, memory=memory)
    return send(observed, state, memory)


def _look(observed: Observed, state: InfrastructureState) -> dict[str, object]:
    return {"infrastructure": infrastructure_status(observed, state)}
