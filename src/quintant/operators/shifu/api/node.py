"""EdgeNode: a node that deviceShifus can run on. It has the name of its Node, and no namespace.

Users may write one to say where a node is and what it takes; the mirror writes the others. The
controller writes the status, and nothing else.
"""

from __future__ import annotations

from typing import Annotated

from quintant.api.meta import Condition
from quintant.api.quantity import Quantity
from quintant.api.scheduling import Toleration
from quintant.core.object import Custom, Model
from quintant.core.resource import resource
from quintant.core.schema.markers import date_time, list_map
from quintant.operators.shifu.api.names import GROUP, VERSION

AVAILABLE, PRESSURE = "Available", "MemoryPressure"
LOCATED, FRESH = "LocationKnown", "MetricsFresh"


class NodeLocation(Model):
    """Where a node is."""

    latitude: float | None = None
    """In degrees, north is positive."""
    longitude: float | None = None
    """In degrees, east is positive."""
    altitude_meters: float | None = None
    """In metres."""
    site: str = ""
    """The site's name."""
    zone: str = ""
    """The zone."""
    region: str = ""
    """The region."""


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
    """Memory that deviceShifus leave alone."""
    accept_protocols: tuple[str, ...] = ()
    """Protocols whose devices may come here; all if none is given."""
    tolerations: tuple[Toleration, ...] = ()
    """Taints of the Node that deviceShifus bear."""
    autonomy: str = ""
    """How long devices stay when the node is lost, unless they say otherwise."""


class NodeResources(Model):
    """Amounts of a node."""

    cpu: Quantity | None = None
    """Of processors."""
    memory: Quantity | None = None
    """Of memory."""
    pods: Quantity | None = None
    """Of pods."""


class FreeMemory(Model):
    """What is free on a node: smoothed, and as it was last seen."""

    memory_bytes: int | None = None
    """Smoothed."""
    raw_memory_bytes: int | None = None
    """As it was last seen."""
    observed_at: Annotated[str, date_time()] | None = None
    """When that was."""
    source: str = ""
    """Where it was read."""


class UsedResources(Model):
    """What is used on a node, for people to look at."""

    memory_bytes: int | None = None
    """Of memory."""
    cpu_millis: int | None = None
    """Of processors, in thousandths of one."""


class DeviceShifuCounts(Model):
    """How many deviceShifus are on a node."""

    bound: int | None = None
    """Those that were given the node."""
    running: int | None = None
    """Those that run."""
    failed: int | None = None
    """Those that do not."""


class EdgeNodeStatus(Model):
    """How a node is."""

    phase: str = ""
    """Ready, Suspect, Lost or Recovering."""
    observed_generation: int | None = None
    """The generation of the spec that this status is about."""
    capacity: NodeResources | None = None
    allocatable: NodeResources | None = None
    free: FreeMemory | None = None
    used: UsedResources | None = None
    device_shifus: DeviceShifuCounts | None = None
    devices: tuple[str, ...] = ()
    """The first fifty."""
    addresses: tuple[str, ...] = ()
    """Where the node is reached."""
    location: NodeLocation | None = None
    last_heartbeat: Annotated[str, date_time()] | None = None
    """When the node was last heard of."""
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    """What is true of it, one condition of each type."""


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
