"""The status of a Cluster: where it runs, what is being done, and what became of it.

`status.state` has the state names of the document. It follows from the conditions and the
operation (`plan.status.summarise`), whoever of the controllers writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from quintant.api.meta import Condition
from quintant.core.markers import date_time, list_map
from quintant.core.object import Model, Opaque
from quintant.operators.infra.api.names import SecretKeyRef

State = Literal[
    "PENDING", "CREATING", "RECONCILING", "CONNECTING", "ONLINE", "OFFLINE", "DEGRADED", "NOTREADY",
    "UNHEALTHY", "DELETING", "FAILING_RECONCILIATION", "FAILED", "FAILING_METRICS",
]  # fmt: skip
"""The seven states of the document, and those of its observer; FAILING_METRICS is not used yet."""
OperationType = Literal["Create", "Update", "Reconfigure", "Delete"]
OperationPhase = Literal["Prepared", "Submitted", "Verifying", "Waiting"]
Moment = Annotated[str | None, date_time()]


class CloudBinding(Model):
    """Where the Cluster runs, as it was then: a namesake that comes later is told apart."""

    kind: str
    name: str
    uid: str = ""
    provider_kind: str = ""
    provider_name: str = ""
    provider_uid: str = msgspec.field(default="", name="providerUID")
    endpoint_hash: str = ""


class ScheduledCloud(Model):
    """The cloud that the scheduler chose."""

    kind: str
    name: str


class Operation(Model):
    """What is being done at the provider; written before it is asked for."""

    type: OperationType
    phase: OperationPhase
    token: str = ""
    """What a created infrastructure is recognised by."""
    hash: str = ""
    """Of the template that is sent."""
    attempt: int = 0
    started_at: Moment = None
    last_attempt_at: Moment = None
    """When a request was sent whose outcome is not known to be a refusal."""
    not_before: Moment = None
    """When the next attempt may be made."""
    progress: int | None = None
    """Machines that are configured, in percent of those that are wanted."""


class Machine(Model):
    """A machine at the provider."""

    id: str
    name: str = ""
    state: str = ""
    addresses: tuple[str, ...] = ()


class InfrastructureStatus(Model):
    """What the provider said last, and since when it says so."""

    state: str = ""
    last_observed: Moment = None
    wanted: int | None = None
    """Machines that the template asks for, where that can be told."""
    vms: Annotated[tuple[Machine, ...], list_map("id")] = ()
    message: str = ""


class MadeNode(Model):
    """A node of the made cluster."""

    name: str
    ready: bool = False
    conditions: tuple[str, ...] = ()
    """The pressures that it complains of."""


class MadeNodes(Model):
    """The nodes of the made cluster."""

    total: int = 0
    ready: int = 0
    pid_pressure: int = 0
    memory_pressure: int = 0
    disk_pressure: int = 0
    items: tuple[MadeNode, ...] = ()


class LastError(Model):
    """Something that failed."""

    time: str
    operation: str = ""
    error_class: str = msgspec.field(default="", name="class")
    reason: str = ""
    message: str = ""
    http_status: int | None = None


class ClusterStatus(Model):
    """What became of it."""

    observed_generation: int | None = None
    state: State | None = None
    phase_message: str = ""
    scheduled_to: ScheduledCloud | None = None
    scheduled: Moment = None
    running_on: CloudBinding | None = None
    cluster_id: str = msgspec.field(default="", name="clusterID")
    """The infrastructure at the provider."""
    created: Moment = None
    """When the provider took the request to create it, or it was adopted."""
    duplicates: tuple[str, ...] = ()
    """Infrastructures with our token that should not be, and are being deleted."""
    last_applied_tosca: Opaque | None = None
    last_applied_ref: SecretKeyRef | None = None
    """Where it is instead, compressed, if it has more than 256 KiB."""
    last_applied_hash: str = ""
    operation: Operation | None = None
    infrastructure: InfrastructureStatus | None = None
    kubeconfig_secret_ref: SecretKeyRef | None = None
    api_server_endpoint: str = ""
    nodes: MadeNodes | None = None
    inherited_labels: Mapping[str, str] = {}
    handled_retry: str = ""
    """The value of the annotation `retry` that was acted on."""
    last_errors: tuple[LastError, ...] = ()
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
