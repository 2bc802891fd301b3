"""What follows from a failure of the provider: who must act, and when it is tried again. Pure.

What passes by itself changes no state and forgets nothing. What only a hand can mend is FAILED.
What may go better next time is tried again, ever more rarely, and FAILED in the end.
"""

from __future__ import annotations

from dataclasses import replace

from quintant.api.meta import ConditionClaim
from quintant.core.object import replace as changed
from quintant.operators.infra.api.cluster_status import Operation
from quintant.operators.infra.observe.answers import ErrorClass, Failure
from quintant.operators.infra.observe.observed import ClusterMemory, Observed
from quintant.operators.infra.plan.decision import (
    RARELY,
    SOON,
    PassDecision,
    backoff,
    later,
    note,
    unstalled,
    with_error,
)
from quintant.operators.infra.plan.status import (
    CREDENTIALS_VALID,
    INFRASTRUCTURE_READY,
    PROVIDER_REACHABLE,
    STALLED,
    SYNCED,
    TEMPLATE_VALID,
    StatusChange,
    claim,
)

TRANSIENT_SECONDS, TRANSIENT_CAP = 5.0, 300.0
REJECTED_SECONDS, REJECTED_CAP = 30.0, 600.0
REJECTED_ATTEMPTS = 10
INTERNAL_ATTEMPTS = 5
BUSY_SECONDS = 5.0
MISSING_LOOKS, MISSING_SECONDS = 3, 15.0
"""How often, and for how long, the provider must deny an infrastructure before that is believed."""
MISSING_PAUSE = 8.0
UNAUTHORIZED = "Unauthorized"
GONE = "InfrastructureGone"


def failed(seen: Observed, failure: Failure) -> PassDecision:
    """What follows from a failure of whatever was asked; NOT_FOUND has `denied`."""
    match failure.kind:
        case ErrorClass.TRANSIENT | ErrorClass.DISABLED:
            return _passing(seen, failure)
        case ErrorClass.BUSY:
            return PassDecision(after=BUSY_SECONDS, memory=_answered(seen))
        case ErrorClass.AUTH:
            return _unauthorized(seen, failure)
        case ErrorClass.TEMPLATE | ErrorClass.CONFIG:
            return _hopeless(seen, failure)
    return _tried(seen, failure)


def reachable(seen: Observed) -> ConditionClaim:
    """That the provider answered, whatever it said."""
    return claim(PROVIDER_REACHABLE, True, "Reachable", "the provider answers")


def denied(seen: Observed, failure: Failure) -> PassDecision:
    """The provider says that there is no such infrastructure: believed only when it keeps to it."""
    memory, since = seen.memory, seen.memory.missing_since or seen.now
    memory = replace(memory, missing=memory.missing + 1, missing_since=since, looked=seen.now)
    passed = (seen.now - since).total_seconds()
    if memory.missing < MISSING_LOOKS or passed < MISSING_SECONDS:
        return PassDecision(
            StatusChange(claims=(reachable(seen),)), after=MISSING_PAUSE, memory=memory
        )
    said = f"infrastructure {seen.status.cluster_id} is gone from the provider"
    fields = {
        "cluster_id": "", "running_on": None, "last_applied_tosca": None, "last_applied_ref": None,
        "last_applied_hash": "",
        "created": None, "infrastructure": None, "operation": None,
        "last_errors": with_error(seen, failure),
    }  # fmt: skip
    claims = (
        claim(INFRASTRUCTURE_READY, None, GONE, said),
        claim(SYNCED, False, GONE, said),
        *unstalled(seen),
    )
    event = note(GONE, f"{said}; another one is created", warning=True)
    return PassDecision(
        StatusChange(fields, claims), events=(event,), after=SOON, memory=ClusterMemory()
    )


def rejected(operation: Operation, seen: Observed, seconds: float) -> Operation:
    """The operation after an attempt that was refused: nothing is under way, it waits."""
    return changed(
        operation, phase="Waiting", last_attempt_at=None, not_before=later(seen.now, seconds)
    )


def _passing(seen: Observed, failure: Failure) -> PassDecision:
    failures = seen.memory.failures + 1
    wait = backoff(failures, TRANSIENT_SECONDS, TRANSIENT_CAP)
    if failure.kind is ErrorClass.DISABLED:
        wait = RARELY
    memory = replace(seen.memory, failures=failures, looked=seen.now)
    told = claim(PROVIDER_REACHABLE, False, failure.reason, failure.message)
    fields = {"last_errors": with_error(seen, failure)}
    return PassDecision(StatusChange(fields, (told,)), after=wait, memory=memory)


def _unauthorized(seen: Observed, failure: Failure) -> PassDecision:
    told = claim(CREDENTIALS_VALID, False, failure.reason, failure.message)
    if seen.status.cluster_id:
        state = claim(INFRASTRUCTURE_READY, False, UNAUTHORIZED, failure.message)
    else:
        state = claim(STALLED, True, UNAUTHORIZED, failure.message)
    return _held_back(seen, failure, (told, state), RARELY)


def _hopeless(seen: Observed, failure: Failure) -> PassDecision:
    claims = [claim(STALLED, True, failure.reason, failure.message)]
    if failure.kind is ErrorClass.TEMPLATE:
        claims.append(claim(TEMPLATE_VALID, False, failure.reason, failure.message))
    # Only another template, another binding or somebody's word ends this wait.
    after = RARELY if seen.status.cluster_id else None
    return replace(_held_back(seen, failure, tuple(claims), None), after=after)


def _tried(seen: Observed, failure: Failure) -> PassDecision:
    operation = _refusable(seen)
    attempt = (operation.attempt if operation is not None else seen.memory.failures) + 1
    internal = failure.kind is ErrorClass.INTERNAL
    most = INTERNAL_ATTEMPTS if internal else REJECTED_ATTEMPTS
    wait = backoff(attempt, REJECTED_SECONDS, REJECTED_CAP)
    claims = [claim(SYNCED, False, failure.reason, failure.message)]
    if seen.status.cluster_id:
        claims.append(claim(INFRASTRUCTURE_READY, False, failure.reason, failure.message))
    if attempt >= most:
        reason = "InternalError" if internal else failure.reason
        claims.append(claim(STALLED, True, reason, failure.message))
        wait = RARELY
    return _held_back(seen, failure, tuple(claims), wait)


def _held_back(
    seen: Observed, failure: Failure, claims: tuple[ConditionClaim, ...], wait: float | None
) -> PassDecision:
    """The operation waits; without a time, until something changes."""
    operation = _refusable(seen)
    fields: dict[str, object] = {"last_errors": with_error(seen, failure)}
    if operation is not None and operation.type != "Delete":
        waits = rejected(operation, seen, wait or 0.0)
        forever = changed(waits, not_before=NEVER) if wait is None else waits
        fields["operation"] = changed(forever, attempt=operation.attempt + 1)
    memory = replace(
        _answered(seen), failed_with=_fingerprint(seen), failures=seen.memory.failures + 1
    )
    return PassDecision(StatusChange(fields, (reachable(seen), *claims)), after=wait, memory=memory)


def _refusable(seen: Observed) -> Operation | None:
    """The operation that a failure is about: not one that was accepted, which only looks follow."""
    operation = seen.status.operation
    return None if operation is not None and operation.phase == "Submitted" else operation


def _answered(seen: Observed) -> ClusterMemory:
    return replace(seen.memory, failures=0, looked=seen.now)


def _fingerprint(seen: Observed) -> str:
    return seen.binding.fingerprint if seen.binding is not None else ""


NEVER = "9999-12-31T23:59:59Z"
"""The time of an attempt that nobody waits for."""
