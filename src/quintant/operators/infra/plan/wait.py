"""Step 7, and the looks at what is finished: what the provider's state means. Pure.

pending, running    it is at work                               wait
configured          said twice, by as many machines as wanted   done
unconfigured        a task of its configuration failed          FAILING_RECONCILIATION
failed, stopped     so did a machine                            FAILING_RECONCILIATION
unknown             the cloud does not answer it                wait, then FAILING_…
deleting            somebody deletes it                         FAILING_RECONCILIATION
"""

from __future__ import annotations

from dataclasses import replace

from quintant.api.meta import ConditionClaim
from quintant.core.object import replace as changed
from quintant.operators.infra.api.cluster_status import Operation
from quintant.operators.infra.observe.answers import (
    ErrorClass,
    Failure,
    InfrastructureState,
    InfrastructureWord,
)
from quintant.operators.infra.observe.observed import ClusterMemory, Observed
from quintant.operators.infra.plan.decision import (
    RARELY,
    SOON,
    PassDecision,
    backoff,
    elapsed,
    later,
    poll,
    remember,
    shown,
    unstalled,
)
from quintant.operators.infra.plan.failures import NEVER, denied, failed, reachable
from quintant.operators.infra.plan.status import (
    IN_PROGRESS,
    INFRASTRUCTURE_READY,
    STALLED,
    StatusChange,
    claim,
    is_true,
    reason_of,
)
from quintant.operators.infra.plan.verdict import (
    STABLE_LOOKS,
    StateFinding,
    StateVerdict,
    judge,
    wanted_by,
)

STABLE_PAUSE = 3.4

CONTEXTUALIZING = "Contextualizing"
TIMEOUTS = {"Create": "create", "Update": "update", "Reconfigure": "reconfigure"}


def look(seen: Observed) -> PassDecision:
    """What follows from the provider's answer."""
    match seen.state:
        case Failure(kind=ErrorClass.NOT_FOUND) as failure:
            return denied(seen, failure)
        case Failure() as failure:
            return failed(seen, failure)
        case None:
            return PassDecision(after=seen.observe_interval)
        case state:
            return _told(seen, state, remember(seen.memory, state, seen.now))


def finished(seen: Observed) -> bool:
    """Whether an operation is done, by what the provider says now."""
    operation, state = seen.status.operation, seen.state
    if operation is None or operation.phase != "Submitted" or isinstance(state, Failure | None):
        return False
    verdict = judge(seen, state, remember(seen.memory, state, seen.now))
    return verdict.finding is StateFinding.READY


def _told(seen: Observed, state: InfrastructureState, memory: ClusterMemory) -> PassDecision:
    verdict = judge(seen, state, memory)
    wanted = wanted_by(seen)
    fields = {"infrastructure": shown(seen, state, wanted)}
    if seen.status.operation is not None and wanted:
        done = len(state.with_state("configured"))
        progress = min(100 * done // wanted, 100)
        fields["operation"] = changed(seen.status.operation, progress=progress)  # type: ignore[assignment]
    base = StatusChange(fields, (reachable(seen),))
    match verdict.finding:
        case StateFinding.READY:
            return _ready(seen, base, memory)
        case StateFinding.FAILING:
            return failing(seen, verdict, base, memory)
        case StateFinding.UNCONFIRMED if seen.details is None and not _overdue(seen):
            # Shown once it is sure: it may take its word back.
            told = StatusChange(claims=(reachable(seen),))
            return PassDecision(told, after=min(STABLE_PAUSE, seen.poll_max), memory=memory)
    return _working(seen, state, base, memory)


def _ready(seen: Observed, base: StatusChange, memory: ClusterMemory) -> PassDecision:
    told = claim(INFRASTRUCTURE_READY, True, "Configured", "all machines are configured")
    change = base + StatusChange(claims=(told, *unstalled(seen)))
    operation = seen.status.operation
    if operation is not None and refused_update(operation):
        # What was there before is well; what was asked for was refused, and is tried again.
        return PassDecision(base, after=_next(seen, memory), memory=memory)
    if operation is None:
        after = seen.observe_interval if is_true(seen.status.conditions, told.type) else SOON
        return PassDecision(change, after=after, memory=memory)
    done = changed(change.fields.get("operation", operation), phase="Submitted")
    return PassDecision(change + StatusChange({"operation": done}), after=SOON, memory=memory)


def _working(
    seen: Observed, state: InfrastructureState, base: StatusChange, memory: ClusterMemory
) -> PassDecision:
    operation = seen.status.operation
    claims: tuple[ConditionClaim, ...] = ()
    if operation is not None and _overdue(seen):
        return _overtime(seen, operation, base, memory)
    known = is_true(seen.status.conditions, INFRASTRUCTURE_READY)
    if operation is not None and operation.phase != "Waiting":
        claims = (claim(INFRASTRUCTURE_READY, None, IN_PROGRESS, f"it is {state.settled.value}"),)
    elif state.settled in (InfrastructureWord.RUNNING, InfrastructureWord.PENDING):
        claims = (claim(INFRASTRUCTURE_READY, None, CONTEXTUALIZING, "it is being configured"),)
    elif not known and state.settled is InfrastructureWord.CONFIGURED:
        claims = (claim(INFRASTRUCTURE_READY, None, CONTEXTUALIZING, "it says it is configured"),)
    after = poll(seen, memory)
    if state.settled is InfrastructureWord.CONFIGURED and memory.looks < STABLE_LOOKS:
        after = min(STABLE_PAUSE, seen.poll_max)
    return PassDecision(base + StatusChange(claims=claims), after=after, memory=memory)


def _overdue(seen: Observed) -> bool:
    """Whether an operation takes longer than it may."""
    operation = seen.status.operation
    if operation is None:
        return False
    limit = seen.timeout(TIMEOUTS.get(operation.type, "delete"))
    running = operation.phase == "Submitted" and limit > 0
    return running and elapsed(seen, operation.started_at) > limit


def _overtime(
    seen: Observed, operation: Operation, base: StatusChange, memory: ClusterMemory
) -> PassDecision:
    """It takes longer than it may: said, and looked at all the same, ever more rarely."""
    said = f"{operation.type} takes longer than {TIMEOUTS[operation.type]} in spec.timeouts allows"
    told = claim(STALLED, True, f"{operation.type}Timeout", said)
    after = min(max(poll(seen, memory), seen.poll_max), RARELY)
    return PassDecision(base + StatusChange(claims=(told,)), after=after, memory=memory)


def failing(
    seen: Observed, verdict: StateVerdict, base: StatusChange, memory: ClusterMemory
) -> PassDecision:
    """Something failed: it is tried again after a while, and FAILED once that was of no use."""
    told = claim(INFRASTRUCTURE_READY, False, verdict.reason, verdict.message)
    operation = seen.status.operation
    if operation is not None and refused_update(operation):
        return PassDecision(
            base + StatusChange(claims=(told,)), after=_next(seen, memory), memory=memory
        )
    waits = operation is not None and operation.phase == "Waiting"
    same = reason_of(seen.status.conditions, INFRASTRUCTURE_READY) == verdict.reason
    if waits and same:
        return PassDecision(
            base + StatusChange(claims=(told,)), after=_next(seen, memory), memory=memory
        )
    most, first, longest = seen.attempts
    again = operation is not None and operation.type == "Reconfigure"
    attempt = operation.attempt if operation is not None and again else 0
    waiting = Operation(
        type="Reconfigure",
        phase="Waiting",
        attempt=attempt,
        token=operation.token if operation is not None else "",
        started_at=operation.started_at if operation is not None and again else None,
        not_before=later(seen.now, backoff(attempt + 1, first, longest)),
    )
    claims = [told]
    if attempt >= most:
        said = f"{verdict.message}; it was configured again {attempt} times"
        claims.append(claim(STALLED, True, "ReconfigureFailed", said))
        waiting = changed(waiting, not_before=NEVER)
    memory = replace(memory, failed_with=seen.binding.fingerprint if seen.binding else "")
    change = base + StatusChange({"operation": waiting}, tuple(claims))
    return PassDecision(change, after=poll(seen, memory), memory=memory)


def refused_update(operation: Operation) -> bool:
    """Whether it is an update that the provider refused, and that waits for its next attempt."""
    return operation.type == "Update" and operation.phase == "Waiting"


def _next(seen: Observed, memory: ClusterMemory) -> float:
    operation = seen.status.operation
    wait = -elapsed(seen, operation.not_before) if operation is not None else 0.0
    stalled = is_true(seen.status.conditions, STALLED)
    rest = RARELY if stalled else max(seen.poll_max, poll(seen, memory))
    return min(max(wait, SOON), rest)
