"""The steps of the document, as an enum and one function: which of them a Cluster is at. Pure.

    1   it is being deleted                    DELETE        (cleanup)
    2   it is not bound, or to nothing         UNBOUND
    3   is `spec.tosca` what was last applied?
    4a  no, and it runs nowhere                CREATE
    4b  no, and it runs                        UPDATE
    5a  yes, and FAILING_RECONCILIATION        RECONFIGURE
    6   yes, ONLINE or CONNECTING              FINISHED
    7   wait until configured                  WAIT
        then save its kubeconfig               SAVE

An operation that was begun is finished before another begins. The document waits inside a step;
here a pass ends after one call, and the next one finds itself at the same step.
"""

from __future__ import annotations

from enum import Enum

from quintant.api.meta import condition_of
from quintant.operators.infra.api.cluster_status import Operation
from quintant.operators.infra.api.names import CONTENT_HASH
from quintant.operators.infra.builders import KUBECONFIG_KEY, content_hash
from quintant.operators.infra.observed.cluster import (
    CallKind,
    LongCallId,
    Observed,
    ProviderQuestion,
    secret_value,
)
from quintant.operators.infra.plan.decision import due
from quintant.operators.infra.plan.diff import template_digest
from quintant.operators.infra.plan.search import rival, wished_id
from quintant.operators.infra.plan.status import (
    API_SERVER_REACHABLE,
    INFRASTRUCTURE_READY,
    KUBECONFIG_READY,
    is_false,
    is_true,
)

# What a fresh look is at rest: a part of the interval, since passes have other causes, too.
FRESH = 0.5


class Step(Enum):
    """Where a Cluster is; the value is the document's number."""

    PAUSED = "-"
    """The user asked for nothing to be done."""
    DELETE = "1"
    """It is being deleted, and its infrastructure goes first."""
    UNBOUND = "2"
    """It is bound to no cloud, or to one that is not there."""
    REGISTERED = "2r"
    """The user made it: nothing is to be done at a provider."""
    MISMATCH = "2m"
    """The provider or cloud at its address is another than the one where it was made."""
    CREATE = "4a"
    """It runs nowhere: have it created."""
    UPDATE = "4b"
    """It runs, and should be different."""
    RECONFIGURE = "5a"
    """It runs as it should, and something failed: have it configured again."""
    FINISHED = "6"
    """It runs as it should: look from time to time."""
    WAIT = "7"
    """The provider is at work: look again soon."""
    SAVE = "7k"
    """It is configured: save its kubeconfig."""


def step(observed: Observed) -> Step:
    """Which step a Cluster is at."""
    cluster, status = observed.cluster, observed.status
    if observed.paused:
        return Step.PAUSED
    if cluster.deleting:
        return Step.DELETE
    if cluster.spec.tosca is None:
        return Step.REGISTERED
    if observed.binding is None:
        return Step.UNBOUND
    if elsewhere(observed):
        return Step.MISMATCH
    if status.operation is not None:
        return _continued(observed, status.operation)
    if not in_sync(observed):
        return Step.CREATE if status.running_on is None else Step.UPDATE
    return _at_rest(observed)


def in_sync(observed: Observed) -> bool:
    """Whether what is wanted is what was last applied (step 3)."""
    tosca = observed.cluster.spec.tosca
    return tosca is not None and observed.status.last_applied_hash == template_digest(tosca)


def elsewhere(observed: Observed) -> bool:
    """Whether the names it is bound to lead to another address than before.

    A cloud that was made again under its name, with the same address, is the same one.
    """
    before, binding = observed.status.running_on, observed.binding
    if before is None or binding is None:
        return False
    return before.endpoint_hash != binding.snapshot.endpoint_hash


def _continued(observed: Observed, operation: Operation) -> Step:
    """An operation that was begun."""
    created = bool(observed.status.cluster_id)
    if created and operation.type == "Create":
        # Whatever became of a creation whose id is known: there is no second one.
        ready = is_true(observed.status.conditions, INFRASTRUCTURE_READY)
        return Step.SAVE if ready else Step.WAIT
    begun = {"Create": Step.CREATE, "Update": Step.UPDATE}.get(operation.type, Step.RECONFIGURE)
    if operation.phase in ("Prepared", "Verifying"):
        return begun
    if operation.phase == "Submitted":
        ready = is_true(observed.status.conditions, INFRASTRUCTURE_READY)
        return Step.SAVE if ready else Step.WAIT
    if not created:
        return Step.CREATE
    if operation.type != "Update" and not in_sync(observed):
        return Step.UPDATE
    return begun if due(observed) <= 0 or _other_template(observed, operation) else Step.WAIT


def _at_rest(observed: Observed) -> Step:
    conditions = observed.status.conditions
    if is_false(conditions, INFRASTRUCTURE_READY):
        return Step.RECONFIGURE
    if not is_true(conditions, INFRASTRUCTURE_READY):
        return Step.WAIT
    return Step.SAVE if unsaved(observed) or unreachable(observed) else Step.FINISHED


def unsaved(observed: Observed) -> bool:
    """Whether the Secret with the kubeconfig is missing, or is not what the provider gave."""
    if not is_true(observed.status.conditions, KUBECONFIG_READY):
        return True
    return observed.secret is None or edited(observed)


def edited(observed: Observed) -> bool:
    """Whether another client changed the Secret."""
    if observed.secret is None:
        return False
    raw = secret_value(observed.secret, KUBECONFIG_KEY)
    return raw is None or content_hash(raw) != observed.secret.metadata.annotations.get(
        CONTENT_HASH
    )


def unreachable(observed: Observed) -> bool:
    """Whether the cluster went out of reach, and its kubeconfig was not read again since."""
    reached = condition_of(observed.status.conditions, API_SERVER_REACHABLE)
    if reached is None or reached.status != "False":
        return False
    return observed.memory.refreshed != reached.last_transition_time


def _other_template(observed: Observed, operation: Operation) -> bool:
    tosca = observed.cluster.spec.tosca
    return tosca is not None and bool(operation.hash) and operation.hash != template_digest(tosca)


def question(observed: Observed) -> ProviderQuestion | None:
    """What the provider is asked before anything is decided."""
    match step(observed):
        case Step.CREATE:
            return _creation_question(observed)
        case Step.UPDATE | Step.RECONFIGURE:
            return None if _sent(observed) else ProviderQuestion.STATE
        case Step.WAIT | Step.MISMATCH:
            return ProviderQuestion.STATE
        case Step.SAVE:
            return ProviderQuestion.OUTPUTS
        case Step.FINISHED:
            return ProviderQuestion.STATE if _stale(observed) else None
    return None


def _sent(observed: Observed) -> bool:
    """Whether a template was sent, and its answer is to be looked at first."""
    operation = observed.status.operation
    return operation is not None and operation.phase == "Prepared" and bool(operation.hash)


def _creation_question(observed: Observed) -> ProviderQuestion | None:
    operation = observed.status.operation
    if (wished := wished_id(observed)) and not observed.rivals and not rival(observed, wished):
        return ProviderQuestion.ADOPT
    if operation is not None and (operation.last_attempt_at is not None or understood(observed)):
        return ProviderQuestion.FIND
    return None


def understood(observed: Observed) -> bool:
    """Whether the provider was asked what it thinks of the template, and has nothing against it."""
    operation, ended = observed.status.operation, observed.ended
    if operation is None or ended is None or ended.failure is not None:
        return False
    return observed.call == LongCallId(CallKind.DRY_RUN, operation.hash, operation.attempt)


def _stale(observed: Observed) -> bool:
    looked = observed.memory.looked
    if observed.memory.missing or observed.memory.failures:
        return True  # it is not known how it is
    return (
        looked is None
        or (observed.now - looked).total_seconds() >= FRESH * observed.observe_interval
    )
