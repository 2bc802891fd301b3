"""An infrastructure that is there becomes the Cluster's: created, found by token, or named by id.

Pure. What the document records after a successful request is written here, and nowhere else.
"""

from __future__ import annotations

from dataclasses import replace

from quintant.api.events import PlannedEvent
from quintant.core.clock import timestamp
from quintant.core.object import replace as changed
from quintant.operators.infra.api import INFRASTRUCTURE
from quintant.operators.infra.api.cluster_status import Operation
from quintant.operators.infra.builders import same_template
from quintant.operators.infra.observed.answers import ErrorClass, Failure
from quintant.operators.infra.observed.cluster import (
    ClusterMemory,
    Observed,
)
from quintant.operators.infra.observed.marks import marks_of
from quintant.operators.infra.plan.decision import (
    RARELY,
    PassDecision,
    advance,
    begin,
    note,
    unstalled,
)
from quintant.operators.infra.plan.diff import template_digest
from quintant.operators.infra.plan.failures import denied, failed, reachable
from quintant.operators.infra.plan.infrastructure import with_error
from quintant.operators.infra.plan.search import rival, wished_id
from quintant.operators.infra.plan.status import (
    IN_PROGRESS,
    INFRASTRUCTURE_READY,
    STALLED,
    StatusChange,
    claim,
)

CREATING = claim(INFRASTRUCTURE_READY, None, IN_PROGRESS, "it is being created")


def wanted_hash(observed: Observed) -> str:
    """The digest of the template as it is wanted now."""
    tosca = observed.cluster.spec.tosca
    return template_digest(tosca) if tosca is not None else ""


def adopt(observed: Observed, id: str, others: tuple[str, ...], *, hash: str) -> PassDecision:
    """Take what carries our marks; `hash` is of the template that it has, empty if unknown."""
    events = [note("Adopted", f"found infrastructure {id}, which carries the mark of this Cluster")]
    if others:
        message = f"infrastructures {', '.join(others)} were made besides {id}, and are deleted"
        events.append(note("DuplicateInfrastructure", message, warning=True))
    decision = taken(observed, id, *events, hash=hash)
    return decision.plus(StatusChange({"duplicates": others})) if others else decision


def adopt_by_id(observed: Observed) -> PassDecision:
    """Take over an infrastructure that exists."""
    id = wished_id(observed)
    other = rival(observed, id)
    rivals = observed.rivals or ((other.holder,) if other is not None else ())
    if rivals:
        message = f"infrastructure {id} is managed by Cluster {', '.join(rivals)} already"
        return _unadoptable(observed, "AlreadyManaged", message)
    match observed.state:
        case Failure(kind=ErrorClass.NOT_FOUND) as failure:
            return _missing(observed, id, failure)
        case Failure() as failure:
            return failed(observed, failure)
        case None:
            return PassDecision(after=observed.poll_min)
    owner = marks_of(observed.adopted).owner if observed.adopted is not None else ""
    given = id == observed.cluster.spec.adopt_infrastructure_id or id in observed.held
    if not given and owner not in ("", observed.instance):
        message = f"infrastructure {id} is of the operator {owner}: adoptInfrastructureID takes it"
        return _unadoptable(observed, "OtherInstance", message)
    same = observed.adopted is not None and same_template(observed.adopted, observed.cluster)
    hash = wanted_hash(observed) if same else ""
    operation = changed(begin(observed, "Create", hash=hash), phase="Submitted")
    claims = (reachable(observed), CREATING, *unstalled(observed))
    return PassDecision(
        StatusChange(_recorded(observed, id, operation), claims),
        events=(note("Adopted", f"takes over infrastructure {id}"),),
        after=observed.poll_min,
        memory=ClusterMemory(),
        claims_id=id,
    )


def _missing(observed: Observed, id: str, failure: Failure) -> PassDecision:
    """The provider denies having what is to be taken over."""
    if id == observed.cluster.spec.adopt_infrastructure_id:
        message = f"the provider has no infrastructure {id}: correct adoptInfrastructureID"
        return _unadoptable(observed, "InfrastructureNotFound", message)
    if id in observed.held:
        # Only its status was lost, and now it is gone, too.
        gone = changed(observed.status, cluster_id=id)
        return denied(replace(observed, cluster=changed(observed.cluster, status=gone)), failure)
    message = (
        f"the provider has no infrastructure {id}, which the annotation {INFRASTRUCTURE} names:"
        " bind the Cluster to the cloud where it is, or take the annotation off to create one"
    )
    return _unadoptable(observed, "InfrastructureNotFound", message)


def _unadoptable(observed: Observed, reason: str, message: str) -> PassDecision:
    failure = Failure(ErrorClass.CONFIG, reason, message)
    fields = {"last_errors": with_error(observed, failure)}
    memory = replace(
        observed.memory, failed_with=observed.binding.fingerprint if observed.binding else ""
    )
    return PassDecision(
        StatusChange(fields, (claim(STALLED, True, reason, message),)), after=RARELY, memory=memory
    )


def taken(observed: Observed, id: str, *events: PlannedEvent, hash: str) -> PassDecision:
    """The infrastructure is there: what the document records after a successful request."""
    operation = advance(observed, phase="Submitted", not_before=None, hash=hash)
    return PassDecision(
        StatusChange(
            _recorded(observed, id, operation),
            (reachable(observed), CREATING, *unstalled(observed)),
        ),
        events=tuple(events),
        after=observed.poll_min,
        memory=ClusterMemory(),
        claims_id=id,
    )


def _recorded(observed: Observed, id: str, operation: Operation) -> dict[str, object]:
    tosca, binding = observed.cluster.spec.tosca, observed.binding
    # What was sent is known only if it is still what is wanted; if not, an update follows.
    known = tosca is not None and operation.hash == template_digest(tosca)
    return {
        "cluster_id": id,
        "created": timestamp(observed.now),
        "running_on": binding.snapshot if binding is not None else None,
        "last_applied_tosca": tosca if known else None,
        "last_applied_hash": operation.hash if known else "",
        "operation": operation,
    }
