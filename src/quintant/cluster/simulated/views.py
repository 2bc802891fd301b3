"""What the simulation sees of pods and nodes: enough to pretend, and no more."""

from __future__ import annotations

import msgspec

from quintant.api.core import Node, Pod
from quintant.api.meta import Condition, condition_of
from quintant.api.node import NodeStatus
from quintant.api.pod import Address, ContainerStatus, PodReadinessGate
from quintant.core.object import Model, Object
from quintant.core.resource import projection


class SimContainer(Model):
    """A container that is not run."""

    name: str
    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    restart_policy: str | None = None


class SimPodSpec(Model):
    """What a simulated pod would run."""

    containers: tuple[SimContainer, ...] = ()
    init_containers: tuple[SimContainer, ...] = ()
    node_name: str = ""
    host_network: bool = False
    restart_policy: str = ""
    readiness_gates: tuple[PodReadinessGate, ...] = ()


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
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()


@projection(Pod)
class SimPod(Object):
    """A pod, as the simulation sees it."""

    spec: SimPodSpec = SimPodSpec()
    status: SimPodStatus = SimPodStatus()

    @property
    def first(self) -> ContainerStatus | None:
        """What is said of the first container."""
        statuses = self.status.container_statuses
        return statuses[0] if statuses else None

    @property
    def restarts(self) -> int:
        """How often the first container was restarted."""
        return self.first.restart_count if self.first is not None else 0


@projection(Node)
class SimNode(Object):
    """A node, as the simulation sees it."""

    status: NodeStatus = NodeStatus()

    @property
    def ready(self) -> bool:
        """Whether it is said to be ready."""
        known = condition_of(self.status.conditions, "Ready")
        return known is not None and known.status == "True"


def state_reason(status: ContainerStatus) -> tuple[str, str]:
    """The state of a container in a word, and the reason of it."""
    state = status.state
    if state.running is not None:
        return "running", ""
    if state.terminated is not None:
        return "terminated", state.terminated.reason
    return "waiting", state.waiting.reason if state.waiting is not None else ""
