"""The request to delete an infrastructure: sent, refused, forgotten, and sent again. Pure.

A deletion that the provider accepted may fail inside it without a word; the state then is no longer
`deleting`. It is asked once more, this time with a call that waits for the reason. And what was
deleted may be there again, without machines, if its state was read as it went.
"""

from __future__ import annotations

from dataclasses import replace

from quintant.core.clock import timestamp
from quintant.core.object import replace as changed
from quintant.operators.infra.api import FORCE_DELETE
from quintant.operators.infra.api.cluster_status import Operation
from quintant.operators.infra.observed.answers import ErrorClass, Failure
from quintant.operators.infra.observed.cluster import (
    CallKind,
    ClusterMemory,
    LongCallId,
    Observed,
)
from quintant.operators.infra.plan.create import failed_search
from quintant.operators.infra.plan.decision import (
    RARELY,
    SOON,
    Act,
    Action,
    PassDecision,
    backoff,
    begin,
    elapsed,
    later,
    note,
)
from quintant.operators.infra.plan.failures import BUSY_SECONDS, reachable
from quintant.operators.infra.plan.infrastructure import with_error
from quintant.operators.infra.plan.status import DELETING, STALLED, StatusChange, claim

FAILED_SECONDS, FAILED_CAP = 10.0, 300.0
UNDELETED_LOOKS = 2
DELETE_FAILED = "DeleteFailed"


def target_of(observed: Observed) -> str:
    """The infrastructure that is asked about: those that should not be go first."""
    status = observed.status
    return status.duplicates[0] if status.duplicates else status.cluster_id


def send_delete(
    observed: Observed, look: StatusChange, memory: ClusterMemory, *, risk: bool = False
) -> PassDecision:
    """Send the request, if its wait is over."""
    target, operation = target_of(observed), observed.status.operation
    mine = operation is not None and operation.type == "Delete" and operation.token == target
    begun = operation if operation is not None and mine else begin(observed, "Delete", token=target)
    wait = -elapsed(observed, begun.not_before) if begun.not_before else 0.0
    if wait > 0:
        return PassDecision(
            look + delete_overtime(observed), after=min(wait, RARELY), memory=memory
        )
    record = (
        look
        + StatusChange({"operation": changed(begun, phase="Prepared")})
        + deletion_change("being deleted")
    )
    events = () if mine else (note("Deleting", f"deletes infrastructure {target}"),)
    if risk:
        events = (*events, note("PossibleLeak", possible_leak(target), warning=True))
    force = observed.cluster.metadata.annotations.get(FORCE_DELETE) == "true"
    act = Act(Action.DELETE, record, target=target, force=force)
    return PassDecision(act=act, events=events, after=observed.poll_min, memory=memory)


def possible_leak(target: str) -> str:
    return (
        f"infrastructure {target} is deleted though it never listed a machine; look at the cloud"
        f" for machines and security groups named im-{target}-…"
    )


def delete_answered(observed: Observed, answer: Failure | None) -> PassDecision:
    """After the request."""
    operation = observed.status.operation
    assert operation is not None, "it was recorded"
    if isinstance(answer, Failure):
        return _refused(observed, operation, answer)
    sent = changed(
        operation, phase="Submitted", attempt=operation.attempt + 1,
        last_attempt_at=timestamp(observed.now), not_before=None,
    )  # fmt: skip
    # A process that does not know of it asks again, which does no harm.
    memory = replace(observed.memory, undeleted=0, looks=0, accepted=sent)
    return PassDecision(after=observed.poll_min, memory=memory)


def with_accepted(observed: Observed) -> Observed:
    """The same, with a deletion on record that was accepted and is not yet."""
    sent, operation = observed.memory.accepted, observed.status.operation
    if sent is None or operation is None or operation.phase != "Prepared":
        return observed
    if (operation.token, operation.attempt) != (sent.token, sent.attempt - 1):
        return observed
    status = changed(observed.status, operation=sent)
    return replace(observed, cluster=changed(observed.cluster, status=status))


def _refused(observed: Observed, operation: Operation, failure: Failure) -> PassDecision:
    if failure.kind is ErrorClass.BUSY:
        change = deletion_change("the provider is at work on it: it is asked again", "Busy")
        return PassDecision(change, after=BUSY_SECONDS)
    if failure.kind is ErrorClass.NOT_FOUND:
        sent = changed(operation, phase="Submitted", attempt=operation.attempt + 1)
        return PassDecision(StatusChange({"operation": sent}), after=SOON)
    if failure.kind in (ErrorClass.TRANSIENT, ErrorClass.DISABLED, ErrorClass.AUTH):
        decision = failed_search(observed, failure)
        return decision.plus(deletion_change(failure.message, failure.reason))
    return _failed(observed, operation, failure)


def _failed(observed: Observed, operation: Operation, failure: Failure) -> PassDecision:
    """The provider could not delete it, and says why."""
    attempt = operation.attempt + 1
    wait = backoff(attempt, FAILED_SECONDS, FAILED_CAP)
    # No request is under way: what is asked next is asked as for the first time.
    waits = changed(
        operation, phase="Waiting", attempt=attempt, not_before=later(observed.now, wait),
        last_attempt_at=None,
    )  # fmt: skip
    fields = {"operation": waits, "last_errors": with_error(observed, failure)}
    condition_claim = claim(DELETING, True, DELETE_FAILED, failure.message)
    change = StatusChange(fields, (reachable(observed), condition_claim)) + delete_overtime(
        observed
    )
    return PassDecision(
        change, after=min(wait, RARELY), memory=replace(observed.memory, undeleted=0)
    )


def repeat_delete(observed: Observed, look: StatusChange, memory: ClusterMemory) -> PassDecision:
    """It was accepted, and is not being carried out."""
    operation = observed.status.operation
    assert operation is not None, "it was accepted"
    if operation.phase == "Waiting":
        return send_delete(observed, look, memory)
    mine = LongCallId(CallKind.DELETE, operation.token, operation.attempt)
    if observed.call == mine and observed.ended is not None:
        failure = observed.ended.failure
        if failure is not None and failure.kind is not ErrorClass.NOT_FOUND:
            return _refused(observed, operation, failure)
    memory = replace(memory, undeleted=memory.undeleted + 1)
    if memory.undeleted < UNDELETED_LOOKS:
        return PassDecision(look, after=observed.poll_min, memory=memory)
    if observed.call == mine:
        return _returned(observed, operation, look, memory)
    force = observed.cluster.metadata.annotations.get(FORCE_DELETE) == "true"
    act = Act(Action.LONG_CALL, look, CallKind.DELETE, target=operation.token, force=force)
    return PassDecision(act=act, after=observed.poll_max, memory=memory)


def _returned(
    observed: Observed, operation: Operation, look: StatusChange, memory: ClusterMemory
) -> PassDecision:
    """It was deleted, as the provider said itself, and is there again: it is asked once more."""
    wait = backoff(operation.attempt, observed.poll_min, FAILED_CAP)
    waits = changed(operation, phase="Waiting", not_before=later(observed.now, wait))
    returned = deletion_change(
        "the provider deleted it, and has it again: it is asked once more", "Returned"
    )
    change = look + StatusChange({"operation": waits}) + returned
    return PassDecision(change, after=wait, memory=replace(memory, undeleted=0))


def delete_overtime(observed: Observed) -> StatusChange:
    operation, limit = observed.status.operation, observed.timeout("delete")
    if operation is None or operation.type != "Delete" or limit <= 0:
        return StatusChange()
    if elapsed(observed, operation.started_at) <= limit:
        return StatusChange()
    message = f"it takes longer than delete in spec.timeouts allows; {FORCE_DELETE}=true may help"
    return StatusChange(claims=(claim(STALLED, True, "DeleteTimeout", message),))


def deletion_change(message: str, reason: str = "InProgress") -> StatusChange:
    return StatusChange(claims=(claim(DELETING, True, reason, message),))
