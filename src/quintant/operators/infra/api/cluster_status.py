"""The status of a Cluster: where it runs, what is being done, and what became of it.

`status.state` has the state names of the document. It follows from the conditions and the
operation (`plan.status.summarise`), whoever of the controllers writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from quintant.api.meta import Condition
from quintant.core.object import Model, Opaque
from quintant.core.schema.markers import date_time, list_map
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
    """Cloud or GlobalCloud."""
    name: str
    """The cloud's name."""
    uid: str = ""
    """The cloud's uid."""
    provider_kind: str = ""
    """InfrastructureProvider or GlobalInfrastructureProvider."""
    provider_name: str = ""
    """The provider's name."""
    provider_uid: str = msgspec.field(default="", name="providerUID")
    """The provider's uid."""
    endpoint_hash: str = ""
    """The digest of the provider's address."""


class ScheduledCloud(Model):
    """The cloud that the scheduler chose."""

    kind: str
    """Cloud or GlobalCloud."""
    name: str
    """Its name."""


class Operation(Model):
    """What is being done at the provider; written before it is asked for."""

    type: OperationType
    """Create, Update, Reconfigure or Delete."""
    phase: OperationPhase
    """How far it is."""
    token: str = ""
    """What a created infrastructure is recognised by."""
    hash: str = ""
    """Of the template that is sent."""
    attempt: int = 0
    """Which try it is."""
    started_at: Moment = None
    """When it was begun."""
    last_attempt_at: Moment = None
    """When a request was sent whose outcome is not known to be a refusal."""
    not_before: Moment = None
    """When the next attempt may be made."""
    progress: int | None = None
    """Machines that are configured, in percent of those that are wanted."""


class Machine(Model):
    """A machine at the provider."""

    id: str
    """Its id at the provider."""
    name: str = ""
    """What it is called there."""
    state: str = ""
    """Its state in the provider's word."""
    addresses: tuple[str, ...] = ()
    """Its addresses."""


class InfrastructureStatus(Model):
    """What the provider said last, and since when it says so."""

    state: str = ""
    """The state in the provider's word."""
    last_observed: Moment = None
    """Since when it says so."""
    wanted: int | None = None
    """Machines that the template asks for, where that can be told."""
    vms: Annotated[tuple[Machine, ...], list_map("id")] = ()
    """Its machines."""
    message: str = ""
    """What the provider says beside it."""


class MadeNode(Model):
    """A node of the made cluster."""

    name: str
    """Its name."""
    ready: bool = False
    """Whether it is ready."""
    conditions: tuple[str, ...] = ()
    """The pressures that it complains of."""


class MadeNodes(Model):
    """The nodes of the made cluster."""

    total: int = 0
    """How many there are."""
    ready: int = 0
    """How many are ready."""
    pid_pressure: int = 0
    """How many are short of process ids."""
    memory_pressure: int = 0
    """How many are short of memory."""
    disk_pressure: int = 0
    """How many are short of disk."""
    items: tuple[MadeNode, ...] = ()
    """Each of them."""


class LastError(Model):
    """Something that failed."""

    time: str
    """When it failed."""
    operation: str = ""
    """What was being done."""
    error_class: str = msgspec.field(default="", name="class")
    """Whether trying again may help."""
    reason: str = ""
    """Why, in one word."""
    message: str = ""
    """Why, in words."""
    http_status: int | None = None
    """What the provider answered with."""


class ClusterStatus(Model):
    """What became of it."""

    observed_generation: int | None = None
    """The generation of the spec that this status is about."""
    state: State | None = None
    """Where it stands, in one word."""
    phase_message: str = ""
    """Where it stands, in words."""
    scheduled_to: ScheduledCloud | None = None
    scheduled: Moment = None
    """When the scheduler chose a cloud."""
    running_on: CloudBinding | None = None
    cluster_id: str = msgspec.field(default="", name="clusterID")
    """The infrastructure at the provider."""
    created: Moment = None
    """When the provider took the request to create it, or it was adopted."""
    duplicates: tuple[str, ...] = ()
    """Infrastructures with our token that should not be, and are being deleted."""
    last_applied_tosca: Opaque | None = None
    """The template that the provider was given last."""
    last_applied_ref: SecretKeyRef | None = None
    """Where it is instead, compressed, if it has more than 256 KiB."""
    last_applied_hash: str = ""
    """The digest of that template."""
    operation: Operation | None = None
    infrastructure: InfrastructureStatus | None = None
    kubeconfig_secret_ref: SecretKeyRef | None = None
    api_server_endpoint: str = ""
    """The address of the made cluster's API server."""
    nodes: MadeNodes | None = None
    inherited_labels: Mapping[str, str] = {}
    """The labels of its cloud, if they are asked for."""
    handled_retry: str = ""
    """The value of the annotation `retry` that was acted on."""
    last_errors: tuple[LastError, ...] = ()
    """What failed last, the newest last."""
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    """What is true of it, one condition of each type."""
