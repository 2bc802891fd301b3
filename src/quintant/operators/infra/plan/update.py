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
from quintant.operators.infra.observe.answers import (
    ErrorClass,
    Failure,
    InfrastructureState,
    InfrastructureWord,
)
from quintant.operators.infra.observe.observed import (
    CallKind,
    ClusterMemory,
    Observed,
    ProviderCall,
)
from quintant.operators.infra.plan.create import wanted_hash
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
    shown,
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
from quintant.operators.infra.plan.status import (
    IN_PROGRESS,
    INFRASTRUCTURE_READY,
    SYNCED,
    TEMPLATE_DRIFT,
    StatusChange,
    claim,
    reason_of,
)
from quintant.operators.infra.plan.verdict import NOTHING_LAUNCHED, wanted_by

BUSY_PAUSE = 5.0
QUIET_LOOKS, QUIET_SECONDS = 3, 30.0
"""How often, and for how long, the machines must have been the same."""
QUIET_AFTER = 60.0
"""Seconds after the request before which nothing is taken for quiet."""
QUIET_PAUSE = 10.0


def update(seen: Observed) -> PassDecision:
    """The next thing to do on the way to the template that is wanted."""
    operation = seen.status.operation
    if operation is not None and operation.phase == "Prepared":
        return _under_way(seen, operation)
    if seen.running:
        return PassDecision(after=seen.poll_max)
    match seen.state:
        case Failure(kind=ErrorClass.NOT_FOUND) as failure:
            return denied(seen, failure)
        case Failure() as failure:
            return failed(seen, failure)
        case None:
            return PassDecision(after=seen.poll_min)
        case state:
            memory = remember(seen.memory, state, seen.now)
            if operation is not None and operation.phase == "Verifying":
                return _verify(seen, operation, state, memory)
            if occupied(state) and not abandoned(seen, state):
                told = StatusChange(_look(seen, state), (reachable(seen),))
                return PassDecision(told, after=BUSY_PAUSE, memory=memory)
            return send(seen, state, memory)


def occupied(state: InfrastructureState) -> bool:
    """Whether a request now would be added to one that is being carried out."""
    return state.settled in (InfrastructureWord.PENDING, InfrastructureWord.DELETING)


def abandoned(seen: Observed, state: InfrastructureState) -> bool:
    """Whether the provider prepares for so long that nobody is at it any more."""
    told = reason_of(seen.status.conditions, INFRASTRUCTURE_READY)
    pending = state.settled is InfrastructureWord.PENDING and not state.machines
    return pending and told == NOTHING_LAUNCHED


def send(seen: Observed, state: InfrastructureState, memory: ClusterMemory) -> PassDecision:
    """Record the request, and make it."""
    before = seen.status.operation
    kind = before.type if before is not None and before.type == "Reconfigure" else "Update"
    fresh = before is None or before.type != kind
    attempt = 0 if fresh or before is None else before.attempt
    started = begin(seen, kind)
    operation = changed(
        started,
        token=before.token if before is not None and before.token else "",
        hash=wanted_hash(seen),
        attempt=attempt + 1,
        last_attempt_at=timestamp(seen.now),
        started_at=started.started_at if fresh or before is None else before.started_at,
    )
    claims = [reachable(seen), *_in_progress(seen), *unstalled(seen)]
    record = StatusChange({"operation": operation, **_look(seen, state)}, tuple(claims))
    act = Act(Action.LONG_CALL, record, CallKind.UPDATE)
    return PassDecision(act=act, events=_events(seen), after=seen.poll_max, memory=memory)


def _in_progress(seen: Observed) -> tuple[ConditionClaim, ...]:
    paths = listed(_changes(seen)) or "the same template"
    return (
        claim(SYNCED, False, "Updating", f"being applied: {paths}"),
        claim(INFRASTRUCTURE_READY, None, IN_PROGRESS, "it is being updated"),
    )


def _changes(seen: Observed) -> tuple[object, ...]:
    before, after = seen.last_applied, seen.cluster.spec.tosca
    if before is None or after is None:
        return ()
    return differences(before.value, after.value)


def _events(seen: Observed) -> tuple[PlannedEvent, ...]:
    events = [note("Updating", f"sends the template: {listed(_changes(seen)) or 'as it was'}")]
    before, after = seen.last_applied, seen.cluster.spec.tosca
    old = machine_counts(before.value) if before is not None else None
    new = machine_counts(after.value) if after is not None else None
    for name in sorted((old or {}).keys() & (new or {}).keys()):
        was, will = (old or {})[name], (new or {})[name]
        if was is not None and will is not None and was != will:
            said = f"{name}: from {was} to {will} machines"
            events.append(PlannedEvent("Normal", "Scaled", said, action=f"Scale-{name}-{will}"))
    return tuple(events)


def _under_way(seen: Observed, operation: Operation) -> PassDecision:
    """A request was recorded: it is under way, has ended, or was lost with the process."""
    mine = ProviderCall(CallKind.UPDATE, operation.hash, operation.attempt)
    if seen.call != mine:
        return _unknown(seen)
    if seen.ended is None:
        return PassDecision(after=seen.poll_max)
    if seen.ended.failure is not None:
        return _not_applied(seen, operation, seen.ended.failure)
    return _applied(seen, operation)


def _unknown(seen: Observed) -> PassDecision:
    """Whether it was carried out is to be found out."""
    verifying = advance(seen, phase="Verifying")
    return PassDecision(StatusChange({"operation": verifying}), after=SOON, memory=ClusterMemory())


def _not_applied(seen: Observed, operation: Operation, failure: Failure) -> PassDecision:
    if failure.kind is ErrorClass.NOT_FOUND:
        back = rejected(operation, seen, TRANSIENT_SECONDS)
        return PassDecision(StatusChange({"operation": back}), after=TRANSIENT_SECONDS)
    decision = failed(seen, failure)
    if failure.applied is False:
        if "operation" in decision.change.fields:
            return decision
        back = rejected(operation, seen, decision.after or TRANSIENT_SECONDS)
        return decision.plus(StatusChange({"operation": changed(back, attempt=operation.attempt)}))
    # Nobody knows: nothing more is sent before it is quiet.
    verifying = replace(decision, after=QUIET_PAUSE, memory=replace(ClusterMemory(), failures=1))
    kept = {key: value for key, value in decision.change.fields.items() if key != "operation"}
    fields = {**kept, "operation": changed(operation, phase="Verifying")}
    return replace(verifying, change=StatusChange(fields, decision.change.claims))


def _applied(seen: Observed, operation: Operation) -> PassDecision:
    """The provider has it: what the document records after a successful request."""
    tosca = seen.cluster.spec.tosca
    known = tosca is not None and operation.hash == wanted_hash(seen)
    fields: dict[str, object] = {"operation": changed(operation, phase="Submitted")}
    claims = [reachable(seen)]
    if known:
        fields |= {"last_applied_tosca": tosca, "last_applied_hash": operation.hash}
        claims += _synced(seen)
    else:
        # What was sent is not what is wanted any more, and an update follows this one.
        fields |= {"last_applied_tosca": None, "last_applied_hash": operation.hash}
    return PassDecision(
        StatusChange(fields, tuple(claims)), after=seen.poll_min, memory=ClusterMemory()
    )


def _synced(seen: Observed) -> list[ConditionClaim]:
    before, after = seen.last_applied, seen.cluster.spec.tosca
    found = [claim(SYNCED, True, "Applied", "the provider has the template")]
    if before is None or after is None:
        return found
    kept = irremovable(differences(before.value, after.value))
    if kept:
        said = f"the provider only merges templates, and keeps what was taken out: {listed(kept)}"
        found.append(claim(TEMPLATE_DRIFT, True, "NotRemoved", said))
    return found


def _verify(
    seen: Observed, operation: Operation, state: InfrastructureState, memory: ClusterMemory
) -> PassDecision:
    """Wait until nothing moves; then send it again."""
    told = StatusChange(_look(seen, state), (reachable(seen),))
    unchanged = (seen.now - (memory.since or seen.now)).total_seconds()
    quiet = (
        memory.looks >= QUIET_LOOKS
        and unchanged >= QUIET_SECONDS
        and elapsed(seen, operation.last_attempt_at) >= QUIET_AFTER
        and not state.waiting
        and not occupied(state)
    )
    if not quiet:
        return PassDecision(told, after=QUIET_PAUSE, memory=memory)
    return send(seen, state, memory)


def _look(seen: Observed, state: InfrastructureState) -> dict[str, object]:
    return {"infrastructure": shown(seen, state, wanted_by(seen))}
