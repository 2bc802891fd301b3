"""Step 7, and the looks at what is finished: what the provider's state means. Pure.

pending, running    it is at work                               wait
configured          said twice, by as many machines as wanted   done
unconfigured        a task of its configuration failed          FAILING_RECONCILIATION
failed, stopped     so did a machine                            FAILING_RECONCILIATION
unknown             the cloud does not answer it                wait, then FAILING_…
deleting            another client deletes it                   FAILING_RECONCILIATION
"""

from __future__ import annotations

from dataclasses import replace

from quintant.api.meta import ConditionClaim
from quintant.core.object import replace as changed
from quintant.operators.infra.api.cluster_status import Operation
from quintant.operators.infra.observed.answers import (
    ErrorClass,
    Failure,
    InfrastructureState,
    InfrastructureWord,
)
from quintant.operators.infra.observed.cluster import ClusterMemory, Observed
from quintant.operators.infra.plan.decision import (
    RARELY,
    SOON,
    PassDecision,
    backoff,
    elapsed,
    later,
    poll,
    remember,
    unstalled,
)
from quintant.operators.infra.plan.failures import NEVER, denied, failed, reachable
from quintant.operators.infra.plan.infrastructure import infrastructure_status
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


def look(observed: Observed) -> PassDecision:
    """What follows from the provider's answer."""
    match observed.state:
        case Failure(kind=ErrorClass.NOT_FOUND) as failure:
            return denied(observed, failure)
        case Failure() as failure:
            return failed(observed, failure)
        case None:
            return PassDecision(after=observed.observe_interval)
        case state:
            return _state_known(observed, state, remember(observed.memory, state, observed.now))


def finished(observed: Observed) -> bool:
    """Whether an operation is done, by what the provider says now."""
    operation, state = observed.status.operation, observed.state
    if operation is None or operation.phase != "Submitted" or isinstance(state, Failure | None):
        return False
    verdict = judge(observed, state, remember(observed.memory, state, observed.now))
    return verdict.finding is StateFinding.READY


def _state_known(
    observed: Observed, state: InfrastructureState, memory: ClusterMemory
) -> PassDecision:
    verdict = judge(observed, state, memory)
    wanted = wanted_by(observed)
    fields = {"infrastructure": infrastructure_status(observed, state)}
    if observed.status.operation is not None and wanted:
        done = len(state.with_state("configured"))
        progress = min(100 * done // wanted, 100)
        fields["operation"] = changed(observed.status.operation, progress=progress)  # type: ignore[assignment]
    base = StatusChange(fields, (reachable(observed),))
    match verdict.finding:
        case StateFinding.READY:
            return _ready(observed, base, memory)
        case StateFinding.FAILING:
            return failing(observed, verdict, base, memory)
        case StateFinding.UNCONFIRMED if observed.details is None and not _overdue(observed):
            # Shown once it is sure: it may take its word back.
            change = StatusChange(claims=(reachable(observed),))
            return PassDecision(change, after=min(STABLE_PAUSE, observed.poll_max), memory=memory)
    return _working(observed, state, base, memory)


def _ready(observed: Observed, base: StatusChange, memory: ClusterMemory) -> PassDecision:
    condition_claim = claim(INFRASTRUCTURE_READY, True, "Configured", "all machines are configured")
    change = base + StatusChange(claims=(condition_claim, *unstalled(observed)))
    operation = observed.status.operation
    if operation is not None and refused_update(operation):
        # What was there before is well; what was asked for was refused, and is tried again.
        return PassDecision(base, after=_next(observed, memory), memory=memory)
    if operation is None:
        after = (
            observed.observe_interval
            if is_true(observed.status.conditions, condition_claim.type)
            else SOON
        )
        return PassDecision(change, after=after, memory=memory)
    done = changed(change.fields.get("operation", operation), phase="Submitted")
    return PassDecision(change + StatusChange({"operation": done}), after=SOON, memory=memory)


def _working(
    observed: Observed, state: InfrastructureState, base: StatusChange, memory: ClusterMemory
) -> PassDecision:
    operation = observed.status.operation
    claims: tuple[ConditionClaim, ...] = ()
    if operation is not None and _overdue(observed):
        return _overtime(observed, operation, base, memory)
    known = is_true(observed.status.conditions, INFRASTRUCTURE_READY)
    if operation is not None and operation.phase != "Waiting":
        claims = (claim(INFRASTRUCTURE_READY, None, IN_PROGRESS, f"it is {state.settled.value}"),)
    elif state.settled in (InfrastructureWord.RUNNING, InfrastructureWord.PENDING):
        claims = (claim(INFRASTRUCTURE_READY, None, CONTEXTUALIZING, "it is being configured"),)
    elif not known and state.settled is InfrastructureWord.CONFIGURED:
        claims = (claim(INFRASTRUCTURE_READY, None, CONTEXTUALIZING, "it says it is configured"),)
    after = poll(observed, memory)
    if state.settled is InfrastructureWord.CONFIGURED and memory.looks < STABLE_LOOKS:
        after = min(STABLE_PAUSE, observed.poll_max)
    return PassDecision(base + StatusChange(claims=claims), after=after, memory=memory)


def _overdue(observed: Observed) -> bool:
    """Whether an operation takes longer than it may."""
    operation = observed.status.operation
    if operation is None:
        return False
    limit = observed.timeout(TIMEOUTS.get(operation.type, "delete"))
    running = operation.phase == "Submitted" and limit > 0
    return running and elapsed(observed, operation.started_at) > limit


def _overtime(
    observed: Observed, operation: Operation, base: StatusChange, memory: ClusterMemory
) -> PassDecision:
    """It takes longer than it may: said, and looked at all the same, ever more rarely."""
    message = (
        f"{operation.type} takes longer than {TIMEOUTS[operation.type]} in spec.timeouts allows"
    )
    condition_claim = claim(STALLED, True, f"{operation.type}Timeout", message)
    after = min(max(poll(observed, memory), observed.poll_max), RARELY)
    return PassDecision(base + StatusChange(claims=(condition_claim,)), after=after, memory=memory)


def failing(
    observed: Observed, verdict: StateVerdict, base: StatusChange, memory: ClusterMemory
) -> PassDecision:
    """Something failed: it is tried again after a while, and FAILED once that was of no use."""
    condition_claim = claim(INFRASTRUCTURE_READY, False, verdict.reason, verdict.message)
    operation = observed.status.operation
    if operation is not None and refused_update(operation):
        return PassDecision(
            base + StatusChange(claims=(condition_claim,)),
            after=_next(observed, memory),
            memory=memory,
        )
    waits = operation is not None and operation.phase == "Waiting"
    same = reason_of(observed.status.conditions, INFRASTRUCTURE_READY) == verdict.reason
    if waits and same:
        return PassDecision(
            base + StatusChange(claims=(condition_claim,)),
            after=_next(observed, memory),
            memory=memory,
        )
    most, first, longest = observed.attempts
    again = operation is not None and operation.type == "Reconfigure"
    attempt = operation.attempt if operation is not None and again else 0
    waiting = Operation(
        type="Reconfigure",
        phase="Waiting",
        attempt=attempt,
        token=operation.token if operation is not None else "",
        started_at=operation.started_at if operation is not None and again else None,
        not_before=later(observed.now, backoff(attempt + 1, first, longest)),
    )
    claims = [condition_claim]
    if attempt >= most:
        message = f"{verdict.message}; it was configured again {attempt} times"
        claims.append(claim(STALLED, True, "ReconfigureFailed", message))
        waiting = changed(waiting, not_before=NEVER)
    memory = replace(memory, failed_with=observed.binding.fingerprint if observed.binding else "")
    change = base + StatusChange({"operation": waiting}, tuple(claims))
    return PassDecision(change, after=poll(observed, memory), memory=memory)


def refused_update(operation: Operation) -> bool:
    """Whether it is an update that the provider refused, and that waits for its next attempt."""
    return operation.type == "Update" and operation.phase == "Waiting"


def _next(observed: Observed, memory: ClusterMemory) -> float:
    operation = observed.status.operation
    wait = -elapsed(observed, operation.not_before) if operation is not None else 0.0
    stalled = is_true(observed.status.conditions, STALLED)
    rest = RARELY if stalled else max(observed.poll_max, poll(observed, memory))
    return min(max(wait, SOON), rest)
