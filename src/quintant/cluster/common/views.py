"""What decides where a pod goes: pods, nodes and volumes as the scheduler sees them.

Projections, so that a cache of many pods stays small and a heartbeat of a node changes nothing.
Each program has a cache of its own and declares no more than it reads: the views of controllers
(quintant.cluster.controllers.pods.views, nodes.views) only share parts of these.
"""

from __future__ import annotations

from collections.abc import Mapping

from quintant.api.core import (
    Affinity,
    Node,
    NodeSelector,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimVolumeSource,
    Pod,
    Quantity,
    Taint,
    Toleration,
    TopologySpreadConstraint,
)
from quintant.api.meta import Condition
from quintant.core.object import Model, Object, Opaque
from quintant.core.resource import projection


class ContainerRequests(Model):
    """What a container is promised."""

    requests: Mapping[str, Quantity] = {}


class HostPortView(Model):
    """A port of a container; only those of the host count."""

    host_port: int = 0
    protocol: str = ""
    host_ip: str = ""


class ContainerView(Model):
    """What a container asks of its node."""

    image: str = ""
    command: tuple[str, ...] = ()
    resources: ContainerRequests = ContainerRequests()
    ports: tuple[HostPortView, ...] = ()
    restart_policy: str | None = None


class VolumeView(Model):
    """A volume of a pod, if it is a claim's: of one that it names, or of its own."""

    name: str
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: Opaque | None = None


class SchedulingGate(Model):
    """What holds a pod back from being scheduled."""

    name: str


class SpreadView(TopologySpreadConstraint):
    """How evenly pods spread, with the rules for which nodes count."""

    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


class PodSpecView(Model):
    """What a pod asks for, and where it is."""

    containers: tuple[ContainerView, ...] = ()
    init_containers: tuple[ContainerView, ...] = ()
    overhead: Mapping[str, Quantity] = {}
    volumes: tuple[VolumeView, ...] = ()
    node_name: str = ""
    node_selector: Mapping[str, str] = {}
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[SpreadView, ...] = ()
    scheduler_name: str = ""
    scheduling_gates: tuple[SchedulingGate, ...] = ()
    priority: int | None = None
    preemption_policy: str | None = None


class PodStatusView(Model):
    """Whether a pod has ended, and what was said about its scheduling."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    nominated_node_name: str = ""


@projection(Pod)
class PodView(Object):
    """A pod, as the scheduler sees it."""

    spec: PodSpecView = PodSpecView()
    status: PodStatusView = PodStatusView()

    @property
    def ended(self) -> bool:
        """Whether it has run to its end and takes no room any more."""
        return self.status.phase in ("Succeeded", "Failed")


class NodeSpecView(Model):
    """How a node takes pods."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeStatusView(Model):
    """What a node has to give."""

    allocatable: Mapping[str, Quantity] = {}


@projection(Node)
class NodeView(Object):
    """A node, as the scheduler sees it."""

    spec: NodeSpecView = NodeSpecView()
    status: NodeStatusView = NodeStatusView()


class ClaimStatusView(Model):
    """Whether a claim is bound."""

    phase: str = ""


@projection(PersistentVolumeClaim)
class ClaimView(Object):
    """A claim, as the scheduler sees it."""

    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: ClaimStatusView = ClaimStatusView()


class VolumeNodeAffinityView(Model):
    """From which nodes a volume can be reached."""

    required: NodeSelector | None = None


class PersistentVolumeSpecView(Model):
    """Where a volume is."""

    node_affinity: VolumeNodeAffinityView | None = None


@projection(PersistentVolume)
class PersistentVolumeView(Object):
    """A volume, as the scheduler sees it."""

    spec: PersistentVolumeSpecView = PersistentVolumeSpecView()
