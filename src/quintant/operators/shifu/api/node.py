"""EdgeNode: a node that deviceShifus can run on. It has the name of its Node, and no namespace.

Users may write one to say where a node is and what it takes; the mirror writes the others. The
controller writes the status, and nothing else.
"""

from __future__ import annotations

from typing import Annotated

from quintant.api.meta import Condition
from quintant.api.quantity import Quantity
from quintant.api.scheduling import Toleration
from quintant.core.markers import date_time, list_map
from quintant.core.object import Custom, Model
from quintant.core.resource import resource
from quintant.operators.shifu.api.names import GROUP, VERSION

AVAILABLE, PRESSURE = "Available", "MemoryPressure"
LOCATED, FRESH = "LocationKnown", "MetricsFresh"


class NodeLocation(Model):
    """Where a node is."""

    latitude: float | None = None
    longitude: float | None = None
    altitude_meters: float | None = None
    site: str = ""
    zone: str = ""
    region: str = ""


class EdgeNodeSpec(Model):
    """What an administrator says of a node."""

    node_name: str = ""
    """The Node; by default the one of the same name."""
    location: NodeLocation | None = None
    schedulable: bool | None = None
    """False keeps new deviceShifus away."""
    max_device_shifus: int | None = None
    """How many deviceShifus at most; 0 derives it from the pods that the node takes."""
    reserved_memory: Quantity | None = None
    accept_protocols: tuple[str, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    autonomy: str = ""
    """How long devices stay when the node is lost, unless they say otherwise."""


class NodeResources(Model):
    """Amounts of a node."""

    cpu: Quantity | None = None
    memory: Quantity | None = None
    pods: Quantity | None = None


class FreeMemory(Model):
    """What is free on a node: smoothed, and as it was last seen."""

    memory_bytes: int | None = None
    raw_memory_bytes: int | None = None
    observed_at: Annotated[str, date_time()] | None = None
    source: str = ""


class UsedResources(Model):
    """What is used on a node, for people to look at."""

    memory_bytes: int | None = None
    cpu_millis: int | None = None


class DeviceShifuCounts(Model):
    """How many deviceShifus are on a node."""

    bound: int | None = None
    running: int | None = None
    failed: int | None = None


class EdgeNodeStatus(Model):
    """How a node is."""

    phase: str = ""
    capacity: NodeResources | None = None
    allocatable: NodeResources | None = None
    free: FreeMemory | None = None
    used: UsedResources | None = None
    device_shifus: DeviceShifuCounts | None = None
    devices: tuple[str, ...] = ()
    """The first fifty."""
    addresses: tuple[str, ...] = ()
    location: NodeLocation | None = None
    last_heartbeat: Annotated[str, date_time()] | None = None
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()


@resource(
    group=GROUP,
    version=VERSION,
    namespaced=False,
    status=True,
    short=["en"],
    columns={
        "Phase": ".status.phase",
        "Free-Mem": ".status.free.memoryBytes",
        "Alloc-Mem": ".status.allocatable.memory",
        "Devices": ".status.deviceShifus.bound",
        "Site": ".status.location.site",
        "Lat": ".status.location.latitude",
        "Lon": ".status.location.longitude",
        "Age": ".metadata.creationTimestamp",
    },
)
class EdgeNode(Custom[EdgeNodeSpec, EdgeNodeStatus]):
    """A node that deviceShifus can run on."""
