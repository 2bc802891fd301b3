"""Step 4a: exactly one infrastructure, whatever fails in between. Pure.

    record an operation, its token ──> dry run ──> look for our marks ──> adopt what has them
                                                    │ none
                                                    └──> record the attempt ──> create ──> the id
                                                              │ answer lost, crash
                                                              └──> look for our marks ──> adopt it
                                                                   │ none, and none to come
                                                                   └──> create, with the same token

The token is in the template that is sent, and so is the Cluster's uid. As long as a request may be
on its way, no other is sent. An answer is believed only if what it names carries the token.
"""

from __future__ import annotations

from dataclasses import replace

from quintant.core.clock import timestamp
from quintant.core.object import replace as changed
from quintant.operators.infra.api.cluster_status import Operation
from quintant.operators.infra.observed.answers import Failure
from quintant.operators.infra.observed.cluster import (
    CallKind,
    ClusterMemory,
    LongCallId,
    Observed,
)
from quintant.operators.infra.plan.adoption import CREATING, adopt, adopt_by_id, taken, wanted_hash
from quintant.operators.infra.plan.decision import (
    RARELY,
    SOON,
    Act,
    Action,
    PassDecision,
    begin,
    due,
    elapsed,
    note,
    unstalled,
)
from quintant.operators.infra.plan.failures import failed, missed, reachable, rejected
from quintant.operators.infra.plan.search import wished_id
from quintant.operators.infra.plan.status import (
    CREDENTIALS_VALID,
    STALLED,
    SYNCED,
    TEMPLATE_VALID,
    StatusChange,
    claim,
)

SETTLE_PAUSE = 5.0
"""Seconds between two looks for an infrastructure whose answer was lost."""


def create(observed: Observed, token: str) -> PassDecision:
    """The next thing to do on the way to an infrastructure; `token` is used if there is none."""
    operation = observed.status.operation
    if wished_id(observed):
        return adopt_by_id(observed)
    if operation is None or (_other(observed, operation) and operation.last_attempt_at is None):
        return _prepare(observed, operation.token if operation is not None else token)
    if operation.last_attempt_at is not None:
        return _looked_for(observed, operation)
    if operation.phase == "Waiting":
        wait = due(observed)
        if wait > 0:
            return PassDecision(after=min(wait, RARELY))
    return _planned(observed, operation)


def _other(observed: Observed, operation: Operation) -> bool:
    return operation.hash != wanted_hash(observed)


def _prepare(observed: Observed, token: str) -> PassDecision:
    """Nothing was sent so far: record what is going to be."""
    operation = begin(observed, "Create", token=token, hash=wanted_hash(observed))
    claims = (
        claim(SYNCED, False, "Creating", "it is being created"),
        CREATING,
        *unstalled(observed),
    )
    call = Act(Action.LONG_CALL, StatusChange({"operation": operation}, claims), CallKind.DRY_RUN)
    memory = replace(observed.memory, failed_with="", failures=0)
    return PassDecision(act=call, after=observed.poll_max, memory=memory)


def _planned(observed: Observed, operation: Operation) -> PassDecision:
    """Nothing is under way: the provider says first what it thinks of the template."""
    wanted = LongCallId(CallKind.DRY_RUN, operation.hash, operation.attempt)
    if observed.call != wanted:
        record = None
        if operation.phase == "Waiting":
            prepared = changed(operation, phase="Prepared", not_before=None)
            record = StatusChange({"operation": prepared}, (CREATING, *unstalled(observed)))
        return PassDecision(
            act=Act(Action.LONG_CALL, record, CallKind.DRY_RUN), after=observed.poll_max
        )
    if observed.ended is None:
        return PassDecision(after=observed.poll_max)
    if observed.ended.failure is not None:
        return _refused(observed, observed.ended.failure)
    match observed.infrastructures:
        case Failure() as failure:
            return failed_search(observed, failure)
        case None:
            return PassDecision(after=observed.poll_min)
        case (first, *others):
            # Its status was lost, and so was the claim: which template it has is not known.
            return adopt(observed, first, tuple(others), hash="")
    return _send(observed, operation)


def _refused(observed: Observed, failure: Failure) -> PassDecision:
    """Nothing was created."""
    decision, operation = failed(observed, failure), observed.status.operation
    if operation is None or "operation" in decision.change.fields:
        return decision
    # It could not be asked: the next attempt has a call of its own.
    waits = rejected(operation, observed, decision.after or RARELY)
    return decision.plus(StatusChange({"operation": changed(waits, attempt=operation.attempt + 1)}))


def _send(observed: Observed, operation: Operation) -> PassDecision:
    sent = changed(
        operation, phase="Prepared", attempt=operation.attempt + 1,
        last_attempt_at=timestamp(observed.now), not_before=None,
    )  # fmt: skip
    claims = (
        reachable(observed),
        claim(TEMPLATE_VALID, True, "Accepted", "the provider understands the template"),
        claim(CREDENTIALS_VALID, True, "Accepted", "provider and cloud accept the credentials"),
        CREATING,
    )
    cloud = observed.binding.cloud.metadata.name if observed.binding is not None else ""
    event = note("Creating", f"asks for an infrastructure on {cloud}")
    record = StatusChange({"operation": sent}, claims)
    return PassDecision(act=Act(Action.CREATE, record), events=(event,), after=observed.poll_min)


def created(observed: Observed, answer: str | Failure) -> PassDecision:
    """After the request: the id is recorded, or nothing is, and it is looked for."""
    if isinstance(answer, str):
        operation = observed.status.operation
        event = note("Created", f"the provider makes infrastructure {answer}")
        return taken(observed, answer, event, hash=operation.hash if operation is not None else "")
    if answer.applied is False:
        return _refused(observed, answer)
    decision = failed(observed, answer)
    # It is not known whether it is there. The attempt stays on record, and the token is looked for.
    kept = {key: value for key, value in decision.change.fields.items() if key != "operation"}
    claims = tuple(each for each in decision.change.claims if each.type != STALLED)
    return replace(decision, change=StatusChange(kept, claims), after=SETTLE_PAUSE)


def _looked_for(observed: Observed, operation: Operation) -> PassDecision:
    """A request may be on its way: what does the provider have with our token?"""
    if isinstance(observed.infrastructures, Failure):
        return failed_search(observed, observed.infrastructures)
    if observed.infrastructures:
        first, *others = observed.infrastructures
        # Right before the request there was none: a single one was made of this template.
        return adopt(observed, first, tuple(others), hash="" if others else operation.hash)
    settle = observed.binding.settle_seconds if observed.binding is not None else 0.0
    rest = settle - elapsed(observed, operation.last_attempt_at)
    memory, sure = missed(observed)
    if rest > 0 or not sure:
        after = min(rest + 0.5, SETTLE_PAUSE) if rest > 0 else SETTLE_PAUSE
        return PassDecision(StatusChange(claims=(reachable(observed),)), after=after, memory=memory)
    over = changed(operation, last_attempt_at=None, hash=wanted_hash(observed))
    return PassDecision(StatusChange({"operation": over}), after=SOON, memory=ClusterMemory())


def failed_search(observed: Observed, failure: Failure) -> PassDecision:
    """The provider could not be asked what it has: the attempt stays on record."""
    decision = failed(observed, failure)
    kept = {key: value for key, value in decision.change.fields.items() if key != "operation"}
    change = StatusChange(kept, decision.change.claims)
    return replace(decision, change=change, after=decision.after or RARELY)
