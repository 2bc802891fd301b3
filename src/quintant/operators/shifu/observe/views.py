"""What is held of the objects of ten thousand devices: what a decision needs, and nothing else.

Each view is made of what the server sends before anybody holds it (`projection(transform=…)`): of a
Deployment its device and its node, of a pod where it is and whether it is ready. Of labels only
those stay by which an object is ours and which revision it has.
"""

from __future__ import annotations

from collections.abc import Mapping

from quintant.api.apps import Deployment
from quintant.api.core import ConfigMap, Node, Pod, Service, Taint
from quintant.api.meta import Condition
from quintant.api.node import NodeAddress, NodeCondition
from quintant.api.quantity import Quantity
from quintant.core.object import Model, Object, ObjectMeta, Request
from quintant.core.owner import OWNER_UID, owner_of
from quintant.core.resource import projection
from quintant.operators.shifu.api.names import (
    DEVICE_LABEL,
    DEVICE_UID_LABEL,
    MANAGED_BY,
    MANAGER,
    MOVES,
    PLACED_AT,
    PLACED_FOR,
    PLACED_NODE,
    PLACEMENT_KIND,
    PLACEMENT_REASON,
    PREVIOUS_NODE,
    REVISION_LABEL,
)
from quintant.operators.shifu.observe.interned import NOTHING, device_key, shared
from quintant.operators.shifu.observe.pod_fields import PodSpecFields, device_of, node_of
from quintant.runtime.apply import data_checksum


def _meta(full: ObjectMeta) -> ObjectMeta:
    """Metadata without what no decision needs."""
    return ObjectMeta(
        name=full.name,
        namespace=shared(full.namespace),
        uid=full.uid,
        resource_version=full.resource_version,
        generation=full.generation,
        deletion_timestamp=full.deletion_timestamp,
        labels=NOTHING,
        annotations=NOTHING,
    )


def _owner(meta: ObjectMeta) -> Request | None:
    """The device that an object was composed for."""
    held = owner_of(Object(metadata=meta))
    return device_key(held.name, held.namespace) if held is not None else None


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


class _DeploymentWire(Object):
    spec: _DeploymentSpec = _DeploymentSpec()
    status: _DeploymentStatus = _DeploymentStatus()


def _drifted(wire: _DeploymentWire) -> bool:
    placed = wire.metadata.annotations.get(PLACED_NODE, "")
    return wire.spec.replicas != 1 or node_of(wire.spec.template.spec) != placed


def _deployment(wire: _DeploymentWire) -> ShifuDeployment:
    notes, meta = wire.metadata.annotations, wire.metadata
    managed = meta.labels.get(MANAGED_BY) == MANAGER and OWNER_UID in meta.labels
    status = wire.status
    return ShifuDeployment(
        metadata=_meta(meta),
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
        moves=int(moves) if (moves := notes.get(MOVES, "")).isdecimal() else 0,
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
    moves: int = 0
    available: bool = False
    drifted: bool = False
    """Whether somebody let it run elsewhere, twice, or not at all."""


class _PodStatus(Model):
    conditions: tuple[Condition, ...] = ()


class _PodWire(Object):
    spec: PodSpecFields = PodSpecFields()
    status: _PodStatus = _PodStatus()


def _pod(wire: _PodWire) -> ShifuPod:
    conditions = {each.type: each for each in wire.status.conditions}
    ready, placed = conditions.get("Ready"), conditions.get("PodScheduled")
    waits = placed is not None and placed.status == "False" and not wire.spec.node_name
    return ShifuPod(
        metadata=_meta(wire.metadata),
        device=device_of(wire.spec.containers),
        managed=wire.metadata.labels.get(MANAGED_BY) == MANAGER,
        node=shared(wire.spec.node_name),
        wanted=node_of(wire.spec),
        ready=ready is not None and ready.status == "True",
        unscheduled_since=(placed.last_transition_time or "") if placed and waits else "",
    )


@projection(of=Pod, wire=_PodWire, transform=_pod)
class ShifuPod(Object):
    """A pod of a deviceShifu: whose, where, and whether it is ready."""

    device: Request | None = None
    managed: bool = False
    node: str = ""
    wanted: str = ""
    """Where its template says that it must run."""
    ready: bool = False
    unscheduled_since: str = ""
    """Since when the scheduler finds no place for it; empty if it has one."""


class _ServiceSpec(Model):
    selector: Mapping[str, str] = {}


class _ServiceWire(Object):
    spec: _ServiceSpec = _ServiceSpec()


def _service(wire: _ServiceWire) -> ShifuService:
    uid = wire.metadata.labels.get(OWNER_UID, "")
    return ShifuService(
        metadata=_meta(wire.metadata),
        device=_owner(wire.metadata),
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
    owner = _owner(meta)
    return ShifuConfig(
        metadata=_meta(meta),
        device=owner,
        owner=shared(meta.labels.get(OWNER_UID, "")),
        revision=meta.labels.get(REVISION_LABEL, ""),
        labelled=meta.labels.get(DEVICE_LABEL, "") if owner is None else "",
        instructions="instructions" in wire.data,
        driver="driverProperties" in wire.data,
        checksum=data_checksum(wire.data) if owner is not None else 0,
    )


@projection(of=ConfigMap, wire=_ConfigMapWire, transform=_config)
class ShifuConfig(ComposedObject):
    """A ConfigMap of instructions, without the instructions; with a device, if we generated it."""

    labelled: str = ""
    """Which device a user has made it for."""
    instructions: bool = False
    driver: bool = False
    checksum: int = 0
    """Of what it says, if we generated it."""


class NodeSpecFields(Model):
    """How a node takes pods."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeStatusFields(Model):
    """What a node has, and how it is."""

    capacity: Mapping[str, Quantity] = {}
    allocatable: Mapping[str, Quantity] = {}
    conditions: tuple[NodeCondition, ...] = ()
    addresses: tuple[NodeAddress, ...] = ()


@projection(of=Node)
class ShifuNode(Object):
    """A Node, as a place for deviceShifus."""

    spec: NodeSpecFields = NodeSpecFields()
    status: NodeStatusFields = NodeStatusFields()
