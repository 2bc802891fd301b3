"""What the simulation sees of pods and nodes: enough to pretend, and no more."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from quintant.api.core import Node, Pod, Quantity
from quintant.api.meta import Condition
from quintant.api.node import NodeAddress, NodeCondition, NodeSystemInfo
from quintant.api.pod import Address, ContainerStatus, ReadinessGate
from quintant.core.object import Model, Object
from quintant.core.resource import projection


class SimContainer(Model):
    """A container that is not run."""

    name: str
    image: str = ""
    command: tuple[str, ...] = ()
    restart_policy: str | None = None


class SimPodSpec(Model):
    """What a simulated pod would run."""

    containers: tuple[SimContainer, ...] = ()
    init_containers: tuple[SimContainer, ...] = ()
    node_name: str = ""
    host_network: bool = False
    readiness_gates: tuple[ReadinessGate, ...] = ()


class SimContainerStatus(ContainerStatus):
    """What is said of a container."""

    @property
    def state_reason(self) -> tuple[str, str]:
        """Its state in a word, and the reason of it."""
        state = self.state
        if state.running is not None:
            return "running", ""
        if state.terminated is not None:
            return "terminated", state.terminated.reason
        return "waiting", state.waiting.reason if state.waiting is not None else ""


class SimPodStatus(Model):
    """What is said of a pod."""

    observed_generation: int | None = None
    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    message: str = ""
    reason: str = ""
    host_ip: str = msgspec.field(default="", name="hostIP")
    host_ips: tuple[Address, ...] = msgspec.field(default=(), name="hostIPs")
    pod_ip: str = msgspec.field(default="", name="podIP")
    pod_ips: tuple[Address, ...] = msgspec.field(default=(), name="podIPs")
    start_time: str | None = None
    init_container_statuses: tuple[SimContainerStatus, ...] = ()
    container_statuses: tuple[SimContainerStatus, ...] = ()


@projection(Pod)
class SimPod(Object):
    """A pod, as the simulation sees it."""

    spec: SimPodSpec = SimPodSpec()
    status: SimPodStatus = SimPodStatus()

    @property
    def first(self) -> SimContainerStatus | None:
        """What is said of the first container."""
        said = self.status.container_statuses
        return said[0] if said else None

    @property
    def restarts(self) -> int:
        """How often the first container was restarted."""
        return self.first.restart_count if self.first is not None else 0


class SimNodeStatus(Model):
    """What is said of a node."""

    capacity: Mapping[str, Quantity] = {}
    allocatable: Mapping[str, Quantity] = {}
    conditions: tuple[NodeCondition, ...] = ()
    addresses: tuple[NodeAddress, ...] = ()
    node_info: NodeSystemInfo = NodeSystemInfo()


@projection(Node)
class SimNode(Object):
    """A node, as the simulation sees it."""

    status: SimNodeStatus = SimNodeStatus()
