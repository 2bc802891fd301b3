"""Step 4a: exactly one infrastructure, whatever fails in between. Pure.

    record an operation, its token ──> dry run ──> record the attempt ──> create ──> record the id
                                                            │ answer lost, crash
                                                            └──> look for the token ──> adopt it
                                                                 │ none, and none to come any more
                                                                 └──> create, with the same token

The token is in the template that is sent. As long as a request may be on its way, no other is sent.
"""

from __future__ import annotations

from dataclasses import replace

from quintant.api.events import PlannedEvent
from quintant.core.clock import timestamp
from quintant.core.object import replace as changed
from quintant.operators.infra.api.cluster_status import Operation
from quintant.operators.infra.builders import same_template
from quintant.operators.infra.observe.answers import ErrorClass, Failure
from quintant.operators.infra.observe.observed import (
    CallKind,
    ClusterMemory,
    Observed,
    ProviderCall,
)
from quintant.operators.infra.plan.decision import (
    RARELY,
    SOON,
    Act,
    Action,
    PassDecision,
    advance,
    begin,
    due,
    elapsed,
    note,
    unstalled,
    with_error,
)
from quintant.operators.infra.plan.diff import template_digest
from quintant.operators.infra.plan.failures import failed, reachable, rejected
from quintant.operators.infra.plan.status import (
    CREDENTIALS_VALID,
    IN_PROGRESS,
    INFRASTRUCTURE_READY,
    STALLED,
    SYNCED,
    TEMPLATE_VALID,
    StatusChange,
    claim,
)

SETTLE_PAUSE = 5.0
"""Seconds between two looks for an infrastructure whose answer was lost."""
_CREATING = claim(INFRASTRUCTURE_READY, None, IN_PROGRESS, "it is being created")


def create(seen: Observed, token: str) -> PassDecision:
    """The next thing to do on the way to an infrastructure; `token` is used if there is none."""
    operation = seen.status.operation
    if seen.cluster.spec.adopt_infrastructure_id:
        return _adopt_by_id(seen)
    if operation is None or (_other(seen, operation) and operation.last_attempt_at is None):
        return _prepare(seen, operation.token if operation is not None else token)
    if operation.last_attempt_at is not None:
        return _looked_for(seen, operation)
    if operation.phase == "Waiting":
        wait = due(seen)
        if wait > 0:
            return PassDecision(after=min(wait, RARELY))
    return _planned(seen, operation)


def _other(seen: Observed, operation: Operation) -> bool:
    return operation.hash != wanted_hash(seen)


def wanted_hash(seen: Observed) -> str:
    """The digest of the template as it is wanted now."""
    tosca = seen.cluster.spec.tosca
    return template_digest(tosca) if tosca is not None else ""


def _prepare(seen: Observed, token: str) -> PassDecision:
    """Nothing was sent so far: record what is going to be."""
    operation = begin(seen, "Create", token=token, hash=wanted_hash(seen))
    claims = (claim(SYNCED, False, "Creating", "it is being created"), _CREATING, *unstalled(seen))
    call = Act(Action.LONG_CALL, StatusChange({"operation": operation}, claims), CallKind.DRY_RUN)
    memory = replace(seen.memory, failed_with="", failures=0)
    return PassDecision(act=call, after=seen.poll_max, memory=memory)


def _planned(seen: Observed, operation: Operation) -> PassDecision:
    """Nothing is under way: the provider says first what it thinks of the template."""
    wanted = ProviderCall(CallKind.DRY_RUN, operation.hash, operation.attempt)
    if seen.call != wanted:
        record = None
        if operation.phase == "Waiting":
            prepared = changed(operation, phase="Prepared", not_before=None)
            record = StatusChange({"operation": prepared}, (_CREATING, *unstalled(seen)))
        return PassDecision(
            act=Act(Action.LONG_CALL, record, CallKind.DRY_RUN), after=seen.poll_max
        )
    if seen.ended is None:
        return PassDecision(after=seen.poll_max)
    if seen.ended.failure is not None:
        return _refused(seen, seen.ended.failure)
    return _send(seen, operation)


def _refused(seen: Observed, failure: Failure) -> PassDecision:
    """Nothing was created."""
    decision, operation = failed(seen, failure), seen.status.operation
    if operation is None or "operation" in decision.change.fields:
        return decision
    # It could not be asked: the next attempt has a call of its own.
    waits = rejected(operation, seen, decision.after or RARELY)
    return decision.plus(StatusChange({"operation": changed(waits, attempt=operation.attempt + 1)}))


def _send(seen: Observed, operation: Operation) -> PassDecision:
    sent = changed(
        operation, phase="Prepared", attempt=operation.attempt + 1,
        last_attempt_at=timestamp(seen.now), not_before=None,
    )  # fmt: skip
    claims = (
        reachable(seen),
        claim(TEMPLATE_VALID, True, "Accepted", "the provider understands the template"),
        claim(CREDENTIALS_VALID, True, "Accepted", "provider and cloud accept the credentials"),
        _CREATING,
    )
    where = seen.binding.cloud.metadata.name if seen.binding is not None else ""
    event = note("Creating", f"asks for an infrastructure on {where}")
    record = StatusChange({"operation": sent}, claims)
    return PassDecision(act=Act(Action.CREATE, record), events=(event,), after=seen.poll_min)


def created(seen: Observed, answer: str | Failure) -> PassDecision:
    """After the request: the id is recorded, or nothing is, and it is looked for."""
    if isinstance(answer, str):
        return taken(seen, answer, note("Created", f"the provider makes infrastructure {answer}"))
    if answer.applied is False:
        return _refused(seen, answer)
    decision = failed(seen, answer)
    # Nobody knows whether it is there. The attempt stays on record, and the token is looked for.
    kept = {key: value for key, value in decision.change.fields.items() if key != "operation"}
    claims = tuple(each for each in decision.change.claims if each.type != STALLED)
    return replace(decision, change=StatusChange(kept, claims), after=SETTLE_PAUSE)


def _looked_for(seen: Observed, operation: Operation) -> PassDecision:
    """A request may be on its way: what does the provider have with our token?"""
    if isinstance(seen.found, Failure):
        return failed_search(seen, seen.found)
    if seen.found:
        first, *others = seen.found
        return _adopt(seen, first, tuple(others))
    settle = seen.binding.settle_seconds if seen.binding is not None else 0.0
    rest = settle - elapsed(seen, operation.last_attempt_at)
    if rest > 0:
        return PassDecision(
            StatusChange(claims=(reachable(seen),)), after=min(rest + 0.5, SETTLE_PAUSE)
        )
    over = changed(operation, last_attempt_at=None, hash=wanted_hash(seen))
    return PassDecision(StatusChange({"operation": over}), after=SOON)


def failed_search(seen: Observed, failure: Failure) -> PassDecision:
    """The provider could not be asked what it has: the attempt stays on record."""
    decision = failed(seen, failure)
    kept = {key: value for key, value in decision.change.fields.items() if key != "operation"}
    change = StatusChange(kept, decision.change.claims)
    return replace(decision, change=change, after=decision.after or RARELY)


def _adopt(seen: Observed, id: str, others: tuple[str, ...]) -> PassDecision:
    events = [note("Adopted", f"found infrastructure {id}, whose answer had been lost")]
    if others:
        said = f"infrastructures {', '.join(others)} were made besides {id}, and are deleted"
        events.append(note("DuplicateInfrastructure", said, warning=True))
    decision = taken(seen, id, *events)
    return decision.plus(StatusChange({"duplicates": others})) if others else decision


def taken(seen: Observed, id: str, *events: PlannedEvent) -> PassDecision:
    """The infrastructure is there: what the document records after a successful request."""
    operation = advance(seen, phase="Submitted", not_before=None)
    return PassDecision(
        StatusChange(
            _recorded(seen, id, operation), (reachable(seen), _CREATING, *unstalled(seen))
        ),
        events=tuple(events),
        after=seen.poll_min,
        memory=ClusterMemory(),
    )


def _recorded(seen: Observed, id: str, operation: Operation) -> dict[str, object]:
    tosca, binding = seen.cluster.spec.tosca, seen.binding
    # What was sent is known only if it is still what is wanted; if not, an update follows.
    known = tosca is not None and operation.hash == template_digest(tosca)
    return {
        "cluster_id": id,
        "created": timestamp(seen.now),
        "running_on": binding.snapshot if binding is not None else None,
        "last_applied_tosca": tosca if known else None,
        "last_applied_hash": operation.hash if known else "",
        "operation": operation,
    }


def _adopt_by_id(seen: Observed) -> PassDecision:
    """Take over an infrastructure that exists."""
    id = seen.cluster.spec.adopt_infrastructure_id
    if seen.rivals:
        said = f"infrastructure {id} is managed by Cluster {', '.join(seen.rivals)} already"
        return _unadoptable(seen, "AlreadyManaged", said)
    match seen.state:
        case Failure(kind=ErrorClass.NOT_FOUND):
            said = f"the provider has no infrastructure {id}: correct adoptInfrastructureID"
            return _unadoptable(seen, "InfrastructureNotFound", said)
        case Failure() as failure:
            return failed(seen, failure)
        case None:
            return PassDecision(after=seen.poll_min)
    same = seen.adopted is not None and same_template(seen.adopted, seen.cluster)
    hash = wanted_hash(seen) if same else ""
    operation = changed(begin(seen, "Create", hash=hash), phase="Submitted")
    claims = (reachable(seen), _CREATING, *unstalled(seen))
    return PassDecision(
        StatusChange(_recorded(seen, id, operation), claims),
        events=(note("Adopted", f"takes over infrastructure {id}"),),
        after=seen.poll_min,
        memory=ClusterMemory(),
    )


def _unadoptable(seen: Observed, reason: str, said: str) -> PassDecision:
    failure = Failure(ErrorClass.CONFIG, reason, said)
    fields = {"last_errors": with_error(seen, failure)}
    memory = replace(seen.memory, failed_with=seen.binding.fingerprint if seen.binding else "")
    return PassDecision(
        StatusChange(fields, (claim(STALLED, True, reason, said),)), after=RARELY, memory=memory
    )
