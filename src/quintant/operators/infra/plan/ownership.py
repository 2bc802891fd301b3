"""Which infrastructures are a Cluster's: those that are claimed for it, and no others. Pure.

A status is no proof: it may be damaged, old, or another's. So before anything is asked for about an
infrastructure, it is claimed. A claim is won

    for what was created just now       by the answer to the request
    for what carries our mark           our uid and instance, or the token of our request
    for what the spec asks to adopt     adoptInfrastructureID
    for what an annotation names        a restore without status keeps it

if no other Cluster that is still there has it.
"""

from __future__ import annotations

import shlex
from dataclasses import replace

from quintant.operators.infra.api import INFRASTRUCTURE
from quintant.operators.infra.builders import INFRA_NAME
from quintant.operators.infra.observed.answers import ErrorClass, Failure
from quintant.operators.infra.observed.cluster import ClusterMemory, Observed, ProviderQuestion
from quintant.operators.infra.observed.marks import InfrastructureMarks
from quintant.operators.infra.plan.create import failed_search
from quintant.operators.infra.plan.decision import RARELY, SOON, PassDecision, note
from quintant.operators.infra.plan.delete_request import deletion_change, target_of
from quintant.operators.infra.plan.failures import denied
from quintant.operators.infra.plan.search import rival, sought_marks
from quintant.operators.infra.plan.status import STALLED, StatusChange, claim
from quintant.operators.infra.plan.steps import elsewhere

NOT_CLAIMED, ALREADY_MANAGED = "NotClaimed", "AlreadyManaged"
FORGOTTEN = {
    "cluster_id": "", "running_on": None, "created": None, "duplicates": (), "operation": None,
    "last_applied_tosca": None, "last_applied_ref": None, "last_applied_hash": "",
    "infrastructure": None,
}  # fmt: skip
"""What a status says of an infrastructure, taken back."""


def is_ours(observed: Observed, id: str) -> bool:
    """Whether an infrastructure is claimed for this Cluster."""
    holding = observed.holdings.get(id)
    return holding is not None and holding.uid == observed.cluster.metadata.uid


def unproven(observed: Observed) -> bool:
    """Whether the status names what is not known to be the Cluster's, or lacks what is."""
    target = target_of(observed)
    named = bool(target) and not is_ours(observed, target)
    return _concerned(observed) and (named or bool(_lost(observed)))


def proof_question(observed: Observed) -> ProviderQuestion | None:
    """What the provider is asked about what is unproven: nothing if another Cluster has it."""
    settled = _lost(observed) or rival(observed, target_of(observed)) is not None
    return None if settled else ProviderQuestion.MARKS


def prove(observed: Observed) -> PassDecision | None:
    """What comes first: that what is named is ours, or is given up. None if it is ours."""
    if not _concerned(observed):
        return None
    if lost := _lost(observed):
        return _recovered(observed, lost)
    target = target_of(observed)
    if not target or is_ours(observed, target):
        return None
    if (other := rival(observed, target)) is not None:
        return _refused(observed, ALREADY_MANAGED, f"is managed by Cluster {other.holder} already")
    match observed.marks:
        case None:
            return PassDecision(after=observed.poll_min)
        case Failure(kind=ErrorClass.NOT_FOUND) as failure:
            # Nothing is there that could be another's: who deletes it counts how often it is said.
            counted = observed.cluster.deleting or observed.status.duplicates
            return None if counted and observed.state == failure else denied(observed, failure)
        case Failure() as failure:
            decision = failed_search(observed, failure)
            going = deletion_change(failure.message, failure.reason)
            return decision.plus(going) if observed.cluster.deleting else decision
        case marks if has_right(observed, target, marks):
            return PassDecision(claims_id=target, after=SOON)
    return _refused(observed, NOT_CLAIMED, "carries no mark of this Cluster")


def has_right(observed: Observed, id: str, marks: InfrastructureMarks) -> bool:
    """Whether an infrastructure that nobody has may be claimed for this Cluster."""
    if marks.match(sought_marks(observed)) or id == observed.cluster.spec.adopt_infrastructure_id:
        return True
    if id == observed.noted_id:
        return marks.owner in ("", observed.instance)
    # The provider lost the template: its name is left, and the status has the id.
    lost = not (marks.uid or marks.owner)
    return lost and marks.name.rpartition("--")[0] == _own_name(observed)


def _own_name(observed: Observed) -> str:
    meta, tosca = observed.cluster.metadata, observed.cluster.spec.tosca
    given = tosca.value.get("metadata") if tosca is not None else None
    name = given.get(INFRA_NAME) if isinstance(given, dict) else None
    return str(name) if name else f"{meta.namespace}.{meta.name}"


def _concerned(observed: Observed) -> bool:
    """Whether anything may be asked for about an infrastructure in this pass."""
    cluster = observed.cluster
    if observed.binding is None or observed.paused:
        return False
    if cluster.deleting:
        return cluster.spec.deletion_policy != "Orphan"
    return cluster.spec.tosca is not None and not elsewhere(observed)


def _lost(observed: Observed) -> tuple[str, ...]:
    """What a Cluster that goes has, and its status does not name."""
    if not observed.cluster.deleting:
        return ()
    status, noted = observed.status, observed.noted_id
    known = {status.cluster_id, *status.duplicates}
    lost = tuple(id for id in observed.held if id not in known)
    if lost or status.cluster_id or not noted or rival(observed, noted) is not None:
        return lost
    return (noted,)


def _recovered(observed: Observed, lost: tuple[str, ...]) -> PassDecision:
    """The record of what the Cluster has is completed before it is deleted."""
    status = observed.status
    named = (status.cluster_id, *status.duplicates)
    ids = (*(id for id in named if is_ours(observed, id)), *lost)
    fields: dict[str, object] = {"cluster_id": ids[0], "duplicates": ids[1:], "operation": None}
    return PassDecision(StatusChange(fields), after=SOON, memory=ClusterMemory())


def _refused(observed: Observed, reason: str, why: str) -> PassDecision:
    """The status names what is not the Cluster's: it is left alone, and given up if it may be."""
    target, status = target_of(observed), observed.status
    message = f"infrastructure {target}, which the status names, {why}"
    event = note("NotClaimed", f"{message}; nothing is done to it", warning=True)
    if status.duplicates:
        rest = StatusChange({"duplicates": status.duplicates[1:]})
        return PassDecision(rest, events=(event,), after=SOON)
    noted = observed.noted_id
    if observed.held or (noted not in ("", target) and rival(observed, noted) is None):
        # What is its own is known from elsewhere.
        return PassDecision(
            StatusChange(FORGOTTEN), events=(event,), after=SOON, memory=ClusterMemory()
        )
    message = f"{message}; {_way_out(observed, target, reason)}"
    if observed.cluster.deleting:
        return PassDecision(deletion_change(message, reason), after=RARELY)
    stalled = claim(STALLED, True, reason, message)
    return PassDecision(StatusChange(claims=(stalled,)), after=RARELY)


def _way_out(observed: Observed, id: str, reason: str) -> str:
    meta = observed.cluster.metadata
    if reason == ALREADY_MANAGED:
        return "to let this Cluster go, annotate it with quintant.dev/release=true"
    return (
        f"if it is this Cluster's: kubectl annotate clusters.infra.quintant.dev -n {meta.namespace}"
        f" {meta.name} {INFRASTRUCTURE}={shlex.quote(id)} --overwrite"
    )


def note_wanted(observed: Observed, decision: PassDecision) -> str | None:
    """What the annotation is to say after a decision; empty takes it off, None leaves it."""
    if observed.cluster.deleting:
        return None
    if "cluster_id" in decision.change.fields:
        wanted = str(decision.change.fields["cluster_id"])
        gone = (*decision.releases, observed.status.cluster_id)
        changes = bool(wanted) or observed.noted_id in gone
        return wanted if changes and wanted != observed.noted_id else None
    wanted = observed.status.cluster_id
    proven = is_ours(observed, wanted) or decision.claims_id == wanted
    return wanted if wanted and proven and wanted != observed.noted_id else None


def released_ids(observed: Observed, decision: PassDecision) -> tuple[str, ...]:
    """Infrastructures that are this Cluster's no more after a decision."""
    return tuple(id for id in observed.held if id in decision.releases)


def without_rivals(observed: Observed) -> Observed:
    """The same, without what was looked for and is another Cluster's by now."""
    ids = observed.infrastructures
    if ids is None or isinstance(ids, Failure):
        return observed
    free = tuple(id for id in ids if rival(observed, id) is None)
    return replace(observed, infrastructures=free)
