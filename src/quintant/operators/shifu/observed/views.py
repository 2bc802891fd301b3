"""What is held of the objects of ten thousand devices: what a decision needs, and nothing else.

Each view is made of what the server sends before it is held (`projection(transform=…)`): of a pod
where it is and whether it is ready; of labels only those by which an object is ours.
"""

from __future__ import annotations

from collections.abc import Mapping

from quintant.api.apps import Deployment
from quintant.api.core import ConfigMap, Pod, Service
from quintant.api.meta import Condition, condition_of
from quintant.core.object import Model, Object, Request
from quintant.core.owner import OWNER_UID
from quintant.core.resource import projection
from quintant.operators.shifu.api.names import (
    DEVICE_LABEL,
    DEVICE_UID_LABEL,
    MANAGED_BY,
    MANAGER,
    MOVED_FOR,
    MOVES,
    PLACED_AT,
    PLACED_FOR,
    PLACED_NODE,
    PLACEMENT_KIND,
    PLACEMENT_REASON,
    PREVIOUS_NODE,
    REVISION_LABEL,
    SIMULATED_POD,
)
from quintant.operators.shifu.observed.instruction_names import instruction_names
from quintant.operators.shifu.observed.interned import shared
from quintant.operators.shifu.observed.pod_fields import (
    PodSpecFields,
    device_of,
    memory_of,
    node_of,
)
from quintant.operators.shifu.observed.view_meta import view_meta, view_owner
from quintant.runtime.apply import data_checksum
from quintant.wire.digits import parse_digits


class ComposedObject(Object):
    """What all views of composed objects have: whose it is, and which revision."""

    device: Request | None = None
    owner: str = ""
    """The uid of the very device that it was composed for."""
    revision: str = ""


class _Template(Model):
    spec: PodSpecFields = PodSpecFields()


class _DeploymentSpec(Model):
    template: _Template = _Template()
    replicas: int | None = None


class _DeploymentStatus(Model):
    available_replicas: int = 0
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()


class _DeploymentWire(Object):
    spec: _DeploymentSpec = _DeploymentSpec()
    status: _DeploymentStatus = _DeploymentStatus()


def _drifted(wire: _DeploymentWire) -> bool:
    placed = wire.metadata.annotations.get(PLACED_NODE, "")
    return wire.spec.replicas != 1 or node_of(wire.spec.template.spec) != placed


def _unavailable_since(status: _DeploymentStatus) -> str:
    found = condition_of(status.conditions, "Available")
    return shared(found.last_transition_time or "") if found and found.status == "False" else ""


def _deployment(wire: _DeploymentWire) -> ShifuDeployment:
    notes, meta, status = wire.metadata.annotations, wire.metadata, wire.status
    managed = meta.labels.get(MANAGED_BY) == MANAGER and OWNER_UID in meta.labels
    return ShifuDeployment(
        metadata=view_meta(meta),
        device=device_of(wire.spec.template.spec.containers),
        owner=shared(meta.labels.get(OWNER_UID, "")),
        revision=meta.labels.get(REVISION_LABEL, ""),
        managed=managed,
        node=shared(notes.get(PLACED_NODE, "")) if managed else "",
        drifted=managed and _drifted(wire),
        kind=shared(notes.get(PLACEMENT_KIND, "")),
        placed_at=shared(notes.get(PLACED_AT, "")) if managed else "",
        placed_for=shared(notes.get(PLACED_FOR, "")),
        previous=shared(notes.get(PREVIOUS_NODE, "")),
        reason=shared(notes.get(PLACEMENT_REASON, "")),
        moved_for=shared(notes.get(MOVED_FOR, "")),
        unavailable_since=_unavailable_since(status),
        memory=memory_of(wire.spec.template.spec),
        moves=parse_digits(notes.get(MOVES, "")) or 0,
        available=status.available_replicas > 0 and status.observed_generation >= meta.generation,
    )


@projection(of=Deployment, wire=_DeploymentWire, transform=_deployment)
class ShifuDeployment(ComposedObject):
    """A Deployment of deviceShifus: whose, where, since when, and whether it is up."""

    managed: bool = False
    """Whether we composed it; else it is the user's own."""
    node: str = ""
    """Where we placed it."""
    kind: str = ""
    placed_at: str = ""
    placed_for: str = ""
    previous: str = ""
    reason: str = ""
    moved_for: str = ""
    unavailable_since: str = ""
    """When it was last up, if it is not; empty if it is, or nobody says."""
    memory: int = 0
    """Bytes that its agent asks for."""
    moves: int = 0
    available: bool = False
    drifted: bool = False
    """Whether it was changed to run elsewhere, twice, or not at all."""


class _PodStatus(Model):
    conditions: tuple[Condition, ...] = ()


class _PodWire(Object):
    spec: PodSpecFields = PodSpecFields()
    status: _PodStatus = _PodStatus()


def _pod(wire: _PodWire) -> ShifuPod:
    found = {each.type: each for each in wire.status.conditions}
    ready, placed = found.get("Ready"), found.get("PodScheduled")
    waits = placed is not None and placed.status == "False" and not wire.spec.node_name
    return ShifuPod(
        metadata=view_meta(wire.metadata),
        device=device_of(wire.spec.containers),
        managed=wire.metadata.labels.get(MANAGED_BY) == MANAGER,
        node=shared(wire.spec.node_name),
        wanted=node_of(wire.spec),
        ready=ready is not None and ready.status == "True",
        simulated=wire.metadata.annotations.get(SIMULATED_POD) == "true",
        unscheduled_since=(placed.last_transition_time or "") if placed and waits else "",
    )


@projection(of=Pod, wire=_PodWire, transform=_pod)
class ShifuPod(Object):
    """A pod of a deviceShifu: whose, where, whether it is ready, and simulated."""

    device: Request | None = None
    managed: bool = False
    node: str = ""
    wanted: str = ""
    """Where its template says that it must run."""
    ready: bool = False
    simulated: bool = False
    unscheduled_since: str = ""
    """Since when the scheduler finds no place for it; empty if it has one."""


class _ServiceSpec(Model):
    selector: Mapping[str, str] = {}


class _ServiceWire(Object):
    spec: _ServiceSpec = _ServiceSpec()


def _service(wire: _ServiceWire) -> ShifuService:
    uid = wire.metadata.labels.get(OWNER_UID, "")
    return ShifuService(
        metadata=view_meta(wire.metadata),
        device=view_owner(wire.metadata),
        owner=shared(uid),
        revision=wire.metadata.labels.get(REVISION_LABEL, ""),
        taken=wire.spec.selector.get(DEVICE_UID_LABEL, "") != uid,
    )


@projection(of=Service, wire=_ServiceWire, transform=_service)
class ShifuService(ComposedObject):
    """A Service in front of a deviceShifu of ours."""

    taken: bool = False
    """Whether it leads elsewhere by now: a user has put his own in its place."""


class _ConfigMapWire(Object):
    data: Mapping[str, str] = {}


def _config(wire: _ConfigMapWire) -> ShifuConfig:
    meta = wire.metadata
    owner = view_owner(meta)
    return ShifuConfig(
        metadata=view_meta(meta),
        device=owner,
        owner=shared(meta.labels.get(OWNER_UID, "")),
        revision=meta.labels.get(REVISION_LABEL, ""),
        labelled=meta.labels.get(DEVICE_LABEL, "") if owner is None else "",
        instructions="instructions" in wire.data,
        names=instruction_names(wire.data.get("instructions", "")) if owner is None else (),
        driver="driverProperties" in wire.data,
        checksum=data_checksum(wire.data) if owner is not None else 0,
    )


@projection(of=ConfigMap, wire=_ConfigMapWire, transform=_config)
class ShifuConfig(ComposedObject):
    """A ConfigMap of instructions, without the instructions; with a device, if we generated it."""

    labelled: str = ""
    """Which device a user has made it for."""
    instructions: bool = False
    names: tuple[str, ...] = ()
    """Of its instructions, if a user wrote it."""
    driver: bool = False
    checksum: int = 0
    """Of what it says, if we generated it."""
