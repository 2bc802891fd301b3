"""What follows from a failure of the provider: who must act, and when it is tried again. Pure.

What passes by itself changes no state and forgets nothing. What only a hand can mend is FAILED.
What may go better next time is tried again, ever more rarely, and FAILED in the end.
"""

from __future__ import annotations

from dataclasses import replace

from quintant.api.meta import ConditionClaim
from quintant.core.object import replace as changed
from quintant.operators.infra.api.cluster_status import Operation
from quintant.operators.infra.observed.answers import ErrorClass, Failure
from quintant.operators.infra.observed.cluster import ClusterMemory, Observed
from quintant.operators.infra.plan.decision import (
    RARELY,
    SOON,
    PassDecision,
    backoff,
    later,
    note,
    unstalled,
)
from quintant.operators.infra.plan.infrastructure import with_error
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

TRANSIENT_SECONDS, TRANSIENT_CAP = 5.0, 30.0
"""Seconds. Who is out of reach is asked by one at a time, so that many may wait for so short."""
REJECTED_SECONDS, REJECTED_CAP = 30.0, 600.0
REJECTED_ATTEMPTS = 10
INTERNAL_ATTEMPTS = 5
BUSY_SECONDS = 5.0
MISSING_LOOKS, MISSING_SECONDS = 3, 15.0
"""How often, and for how long, the provider must deny an infrastructure before that is believed."""
MISSING_PAUSE = 8.0
UNAUTHORIZED = "Unauthorized"
GONE = "InfrastructureGone"


def failed(observed: Observed, failure: Failure) -> PassDecision:
    """What follows from a failure of whatever was asked; NOT_FOUND has `denied`."""
    match failure.kind:
        case ErrorClass.TRANSIENT | ErrorClass.DISABLED:
            return _passing(observed, failure)
        case ErrorClass.INTERNAL if _refusable(observed) is None:
            # A look that failed says nothing about what was looked at.
            return _passing(observed, failure)
        case ErrorClass.BUSY:
            return PassDecision(after=BUSY_SECONDS, memory=_answered(observed))
        case ErrorClass.AUTH:
            return _unauthorized(observed, failure)
        case ErrorClass.TEMPLATE | ErrorClass.CONFIG:
            return _hopeless(observed, failure)
    return _tried(observed, failure)


def reachable(observed: Observed) -> ConditionClaim:
    """That the provider answered, whatever it said."""
    return claim(PROVIDER_REACHABLE, True, "Reachable", "the provider answers")


def denied(observed: Observed, failure: Failure) -> PassDecision:
    """The provider says that there is no such infrastructure: believed only when it keeps to it."""
    memory, sure = missed(observed)
    if not sure:
        return PassDecision(
            StatusChange(claims=(reachable(observed),)), after=MISSING_PAUSE, memory=memory
        )
    message = f"infrastructure {observed.status.cluster_id} is gone from the provider"
    fields = {
        "cluster_id": "", "running_on": None, "last_applied_tosca": None, "last_applied_ref": None,
        "last_applied_hash": "",
        "created": None, "infrastructure": None, "operation": None,
        "last_errors": with_error(observed, failure),
    }  # fmt: skip
    claims = (
        claim(INFRASTRUCTURE_READY, None, GONE, message),
        claim(SYNCED, False, GONE, message),
        *unstalled(observed),
    )
    event = note(GONE, f"{message}; another one is created", warning=True)
    return PassDecision(
        StatusChange(fields, claims), events=(event,), after=SOON, memory=ClusterMemory(),
        releases=(observed.status.cluster_id,),
    )  # fmt: skip


def missed(observed: Observed) -> tuple[ClusterMemory, bool]:
    """The memory after the provider denied it once more, and whether that is believed."""
    memory, since = observed.memory, observed.memory.missing_since or observed.now
    memory = replace(memory, missing=memory.missing + 1, missing_since=since, looked=observed.now)
    passed = (observed.now - since).total_seconds()
    return memory, memory.missing >= MISSING_LOOKS and passed >= MISSING_SECONDS


def rejected(operation: Operation, observed: Observed, seconds: float) -> Operation:
    """The operation after an attempt that was refused: nothing is under way, it waits."""
    return changed(
        operation, phase="Waiting", last_attempt_at=None, not_before=later(observed.now, seconds)
    )


def _passing(observed: Observed, failure: Failure) -> PassDecision:
    failures = observed.memory.failures + 1
    wait = backoff(failures, TRANSIENT_SECONDS, TRANSIENT_CAP)
    if failure.kind is ErrorClass.DISABLED:
        wait = RARELY
    memory = replace(observed.memory, failures=failures, looked=observed.now)
    condition_claim = claim(PROVIDER_REACHABLE, False, failure.reason, failure.message)
    fields = {"last_errors": with_error(observed, failure)}
    return PassDecision(StatusChange(fields, (condition_claim,)), after=wait, memory=memory)


def _unauthorized(observed: Observed, failure: Failure) -> PassDecision:
    condition_claim = claim(CREDENTIALS_VALID, False, failure.reason, failure.message)
    if observed.status.cluster_id:
        state = claim(INFRASTRUCTURE_READY, False, UNAUTHORIZED, failure.message)
    else:
        state = claim(STALLED, True, UNAUTHORIZED, failure.message)
    return _held_back(observed, failure, (condition_claim, state), RARELY)


def _hopeless(observed: Observed, failure: Failure) -> PassDecision:
    claims = [claim(STALLED, True, failure.reason, failure.message)]
    if failure.kind is ErrorClass.TEMPLATE:
        claims.append(claim(TEMPLATE_VALID, False, failure.reason, failure.message))
    # Only another template, another binding or the user's request ends this wait.
    after = RARELY if observed.status.cluster_id else None
    return replace(_held_back(observed, failure, tuple(claims), None), after=after)


def _tried(observed: Observed, failure: Failure) -> PassDecision:
    operation = _refusable(observed)
    attempt = (operation.attempt if operation is not None else observed.memory.failures) + 1
    internal = failure.kind is ErrorClass.INTERNAL
    most = INTERNAL_ATTEMPTS if internal else REJECTED_ATTEMPTS
    wait = backoff(attempt, REJECTED_SECONDS, REJECTED_CAP)
    claims = []
    if operation is not None:
        claims.append(claim(SYNCED, False, failure.reason, failure.message))
    if observed.status.cluster_id:
        claims.append(claim(INFRASTRUCTURE_READY, False, failure.reason, failure.message))
    if attempt >= most:
        reason = "InternalError" if internal else failure.reason
        claims.append(claim(STALLED, True, reason, failure.message))
        wait = RARELY
    return _held_back(observed, failure, tuple(claims), wait)


def _held_back(
    observed: Observed, failure: Failure, claims: tuple[ConditionClaim, ...], wait: float | None
) -> PassDecision:
    """The operation waits; without a time, until something changes."""
    operation = _refusable(observed)
    fields: dict[str, object] = {"last_errors": with_error(observed, failure)}
    if operation is not None and operation.type != "Delete":
        waits = rejected(operation, observed, wait or 0.0)
        forever = changed(waits, not_before=NEVER) if wait is None else waits
        fields["operation"] = changed(forever, attempt=operation.attempt + 1)
    memory = replace(
        _answered(observed),
        failed_with=_fingerprint(observed),
        failures=observed.memory.failures + 1,
    )
    return PassDecision(
        StatusChange(fields, (reachable(observed), *claims)), after=wait, memory=memory
    )


def _refusable(observed: Observed) -> Operation | None:
    """The operation that a failure is about: not one that was accepted, which only looks follow."""
    operation = observed.status.operation
    return None if operation is not None and operation.phase == "Submitted" else operation


def _answered(observed: Observed) -> ClusterMemory:
    return replace(observed.memory, failures=0, looked=observed.now)


def _fingerprint(observed: Observed) -> str:
    return observed.binding.fingerprint if observed.binding is not None else ""


NEVER = "9999-12-31T23:59:59Z"
"""The time of an attempt that is never made."""
