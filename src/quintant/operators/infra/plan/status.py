"""The status of a Cluster: what is claimed, and the one state that follows from it. Pure.

Three controllers write the status. Each makes a `Change` of the fields and conditions that are its
own, and `summarise` computes what follows from all of them: `state`, `Ready`, `Progressing`,
`Reconciling`.

    deleting                                          DELETING (FAILED if it stalled)
    Stalled                                           FAILED
    InfrastructureReady=False                         FAILING_RECONCILIATION
    operation Create | Update, Reconfigure            CREATING | RECONCILING
    kubeconfig, and no word of the cluster yet        CONNECTING
    APIServerReachable, NodesHealthy                  OFFLINE DEGRADED NOTREADY UNHEALTHY ONLINE
    otherwise                                         PENDING
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from quintant.api.meta import Condition, ConditionClaim, condition_of, set_conditions
from quintant.core.object import replace
from quintant.operators.infra.api import FINALIZER, LEGACY_FINALIZER, Cluster, ClusterStatus
from quintant.operators.infra.api.cluster_status import State
from quintant.runtime.reconcile.kstatus import RECONCILING, reconciling, stalled, with_kstatus

# Conditions of a Cluster.
SCHEDULED = "Scheduled"
TEMPLATE_VALID = "TemplateValid"
INLINE_SECRETS = "TemplateHasInlineSecrets"
CLOUD_RESOLVED = "CloudResolved"
CREDENTIALS_VALID = "CredentialsValid"
PROVIDER_REACHABLE = "ProviderReachable"
BINDING_MISMATCH = "BindingMismatch"
SYNCED = "Synced"
TEMPLATE_DRIFT = "TemplateDrift"
INFRASTRUCTURE_READY = "InfrastructureReady"
KUBECONFIG_READY = "KubeconfigReady"
API_SERVER_REACHABLE = "APIServerReachable"
NODES_HEALTHY = "NodesHealthy"
PROGRESSING = "Progressing"
STALLED = "Stalled"
PAUSED = "Paused"
DELETING = "Deleting"
READY = "Ready"
CONDITIONS = (
    SCHEDULED, TEMPLATE_VALID, INLINE_SECRETS, CLOUD_RESOLVED, CREDENTIALS_VALID,
    PROVIDER_REACHABLE, BINDING_MISMATCH, SYNCED, TEMPLATE_DRIFT, INFRASTRUCTURE_READY,
    KUBECONFIG_READY, API_SERVER_REACHABLE, NODES_HEALTHY, PROGRESSING, RECONCILING, STALLED,
    PAUSED, DELETING, READY,
)  # fmt: skip
"""All of them, in the order of docs/infra.md."""
KSTATUS = (stalled(STALLED, "True"), reconciling(PROGRESSING, "True"))
"""Stalled is this operator's own: it decides the state."""

# Reasons by which other controllers are understood.
IN_PROGRESS = "InProgress"
CONNECTING = "Connecting"
RECONNECTED = "Reconnected"
DEGRADED = "Degraded"
NODES_NOT_READY = "NodesNotReady"
_HEALTH: dict[str, State] = {NODES_NOT_READY: "NOTREADY"}
_NECESSARY = (INFRASTRUCTURE_READY, KUBECONFIG_READY, API_SERVER_REACHABLE, NODES_HEALTHY)


def claim(type: str, status: bool | None, reason: str, message: str = "") -> ConditionClaim:
    """A claim; None is Unknown."""
    return ConditionClaim(type, "Unknown" if status is None else str(status), reason, message)


@dataclass(frozen=True, slots=True)
class StatusChange:
    """What one controller sets in a status, and nothing else; later claims win."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    claims: tuple[ConditionClaim, ...] = ()

    def __add__(self, other: StatusChange) -> StatusChange:
        return StatusChange({**self.fields, **other.fields}, (*self.claims, *other.claims))

    def on(self, cluster: Cluster, status: ClusterStatus | None, now: datetime) -> ClusterStatus:
        """The status with this change, and with all that follows from it."""
        changed = replace(status or ClusterStatus(), **self.fields)
        generation = cluster.metadata.generation
        conditions = set_conditions(changed.conditions, self.claims, generation=generation, now=now)
        return summarise(cluster, replace(changed, conditions=conditions), now)


def summarise(cluster: Cluster, status: ClusterStatus, now: datetime) -> ClusterStatus:
    """The status with what follows from it; it changes nothing that follows already."""
    state, message = state_of(cluster, status)
    claims = (_ready(cluster, status), _progressing(status, state))
    generation = cluster.metadata.generation
    conditions = set_conditions(status.conditions, claims, generation=generation, now=now)
    conditions = with_kstatus(conditions, KSTATUS, generation=generation, now=now)
    return replace(status, state=state, phase_message=message, conditions=conditions)


def state_of(cluster: Cluster, status: ClusterStatus) -> tuple[State, str]:
    """The state of a Cluster, and what to say about it in a line."""
    stalled = condition_of(status.conditions, STALLED)
    failed = stalled is not None and stalled.status == "True"
    if cluster.deleting and held(cluster):
        going = condition_of(status.conditions, DELETING)
        return ("FAILED" if failed and _about_deletion(stalled) else "DELETING"), _text(going)
    if failed:
        return "FAILED", _text(stalled)
    ready = condition_of(status.conditions, INFRASTRUCTURE_READY)
    if ready is not None and ready.status == "False":
        return "FAILING_RECONCILIATION", _text(ready)
    if status.operation is not None and status.operation.type != "Delete":
        return "CREATING" if status.operation.type == "Create" else "RECONCILING", _text(ready)
    kubeconfig = condition_of(status.conditions, KUBECONFIG_READY)
    made = status.cluster_id or cluster.spec.tosca is None
    if made and kubeconfig is not None and kubeconfig.status == "True":
        return _observed_state(status.conditions)
    return "PENDING", _why_pending(status.conditions)


def held(cluster: Cluster) -> bool:
    """Whether our finalizer, of either name, is on a Cluster."""
    return bool({FINALIZER, LEGACY_FINALIZER} & set(cluster.metadata.finalizers))


def is_true(conditions: Sequence[Condition], type: str) -> bool:
    """Whether a condition is known to hold."""
    found = condition_of(conditions, type)
    return found is not None and found.status == "True"


def is_false(conditions: Sequence[Condition], type: str, reason: str = "") -> bool:
    """Whether a condition is known not to hold, for this reason if one is given."""
    found = condition_of(conditions, type)
    return found is not None and found.status == "False" and reason in ("", found.reason)


def reason_of(conditions: Sequence[Condition], type: str) -> str:
    """The reason of a condition; empty if it was not judged."""
    found = condition_of(conditions, type)
    return found.reason if found is not None else ""


def over(conditions: Sequence[Condition], type: str, holds: bool) -> list[ConditionClaim]:
    """That a condition is over, where it was said that it is not."""
    known = condition_of(conditions, type)
    if holds or known is None or known.status != "True":
        return []
    return [claim(type, False, "Over", "")]


def observable(cluster: Cluster, status: ClusterStatus) -> bool:
    """Whether it is the observer's turn: nothing is being done to the cluster."""
    return not cluster.deleting and state_of(cluster, status)[0] in (
        "CONNECTING", "ONLINE", "OFFLINE", "DEGRADED", "NOTREADY", "UNHEALTHY",
    )  # fmt: skip


def _observed_state(conditions: Sequence[Condition]) -> tuple[State, str]:
    reached = condition_of(conditions, API_SERVER_REACHABLE)
    if reached is None or reached.reason in (CONNECTING, RECONNECTED):
        return "CONNECTING", _text(reached)
    if reached.status == "Unknown":
        return "DEGRADED", _text(reached)
    if reached.status == "False":
        return "OFFLINE", _text(reached)
    healthy = condition_of(conditions, NODES_HEALTHY)
    if healthy is not None and healthy.status == "False":
        return _HEALTH.get(healthy.reason, "UNHEALTHY"), _text(healthy)
    return "ONLINE", _text(healthy)


def _ready(cluster: Cluster, status: ClusterStatus) -> ConditionClaim:
    needed = _NECESSARY if cluster.spec.tosca is not None else _NECESSARY[1:]
    for type in needed:
        found = condition_of(status.conditions, type)
        if found is None or found.status != "True":
            known = found is not None and found.status == "False"
            why = found.reason if found is not None else "NotYet"
            return claim(READY, False if known else None, why, f"{type}: {_text(found) or why}")
    synced = condition_of(status.conditions, SYNCED)
    if cluster.spec.tosca is not None and synced is not None and synced.status == "False":
        # It is well, and is not what is asked for.
        return claim(READY, None, synced.reason, f"{SYNCED}: {_text(synced)}")
    return claim(READY, True, "Ready", "the cluster answers, and its nodes are healthy")


def _progressing(status: ClusterStatus, state: State) -> ConditionClaim:
    operation = status.operation
    if state in ("CREATING", "RECONCILING", "DELETING") and operation is not None:
        return claim(PROGRESSING, True, operation.type, f"{operation.type}: {operation.phase}")
    if state in ("CONNECTING", "DELETING"):
        return claim(PROGRESSING, True, state.title(), "")
    return claim(PROGRESSING, False, "Idle", "nothing is being done at the provider")


def _why_pending(conditions: Sequence[Condition]) -> str:
    for type in (PAUSED, SCHEDULED, CLOUD_RESOLVED, KUBECONFIG_READY):
        found = condition_of(conditions, type)
        if found is not None and (found.status == "True") is (type == PAUSED):
            return _text(found)
    return ""


def _about_deletion(stalled: Condition | None) -> bool:
    return stalled is not None and stalled.reason.startswith("Delete")


def _text(condition: Condition | None) -> str:
    return condition.message if condition is not None else ""
