"""NodeInfo, fitsRequest: allocatable and requested resources of a node, and whether a pod fits.

Kept up to date pod by pod; asking is cheap, because it is asked for every pod and node.
"""

from __future__ import annotations

from msgspec import Struct

from quintant.cluster.common.views import NodeView, PodView
from quintant.cluster.scheduler.resources import (
    CPU,
    MEMORY,
    PODS,
    HostPort,
    ResourceRequest,
    ports_conflict,
    quantity_values,
)

FULL = "Too many pods"
SHORT = "Insufficient {}"
PORTS = "node(s) didn't have free ports for the requested pod ports"


class PlacedPod(Struct, frozen=True):
    """A pod that has a place on a node."""

    pod: PodView
    request: ResourceRequest
    node: str


class NodeInfo:
    """One node, and the pods on it."""

    __slots__ = (
        "cpu",
        "max_pods",
        "memory",
        "name",
        "node",
        "others",
        "placed_pods",
        "ports",
        "used_cpu",
        "used_memory",
        "used_others",
        "weight_cpu",
        "weight_memory",
    )

    def __init__(self, name: str) -> None:
        self.name: str = name
        self.node: NodeView | None = None
        """None while pods are on it that nobody has seen."""
        self.cpu: int = 0
        self.memory: int = 0
        self.max_pods: int = 0
        self.others: dict[str, int] = {}
        self.used_cpu: int = 0
        self.used_memory: int = 0
        self.used_others: dict[str, int] = {}
        self.weight_cpu: int = 0
        self.weight_memory: int = 0
        self.ports: set[HostPort] = set()
        self.placed_pods: dict[str, PlacedPod] = {}

    def set_node(self, node: NodeView | None) -> None:
        """Take what the node says it has."""
        self.node = node
        has = quantity_values(node.status.allocatable) if node is not None else {}
        self.cpu, self.memory = has.pop(CPU, 0), has.pop(MEMORY, 0)
        self.max_pods, self.others = has.pop(PODS, 0), has

    def add_pod(self, placed: PlacedPod) -> None:
        """Give a pod its place."""
        self.placed_pods[placed.pod.metadata.uid] = placed
        self._count(placed.request, 1)
        self.ports |= placed.request.ports

    def remove_pod(self, placed: PlacedPod) -> None:
        """Take a pod's place back."""
        del self.placed_pods[placed.pod.metadata.uid]
        self._count(placed.request, -1)
        if placed.request.ports:
            self.ports = {
                port for other in self.placed_pods.values() for port in other.request.ports
            }

    def fits(self, request: ResourceRequest) -> bool:
        """Whether there is enough left of everything."""
        if len(self.placed_pods) >= self.max_pods or request.cpu > self.cpu - self.used_cpu:
            return False
        if request.memory > self.memory - self.used_memory:
            return False
        if request.ports and ports_conflict(request.ports, self.ports):
            return False
        return not request.others or not any(self._lacks(*each) for each in request.others)

    def insufficient_resources(self, request: ResourceRequest) -> list[str]:
        """What there is not enough of, in the words of a real scheduler; ports come first."""
        if ports_conflict(request.ports, self.ports):
            return [PORTS]
        found = [FULL] if len(self.placed_pods) >= self.max_pods else []
        if request.cpu > self.cpu - self.used_cpu:
            found.append(SHORT.format(CPU))
        if request.memory > self.memory - self.used_memory:
            found.append(SHORT.format(MEMORY))
        return found + [
            SHORT.format(name) for name, requested in request.others if self._lacks(name, requested)
        ]

    def never_fits(self, request: ResourceRequest) -> bool:
        """Whether a pod would not fit even if the node were empty."""
        if request.cpu > self.cpu or request.memory > self.memory or not self.max_pods:
            return True
        return any(requested > self.others.get(name, 0) for name, requested in request.others)

    def _lacks(self, name: str, requested: int) -> bool:
        return requested > self.others.get(name, 0) - self.used_others.get(name, 0)

    def _count(self, taken: ResourceRequest, sign: int) -> None:
        self.used_cpu += sign * taken.cpu
        self.used_memory += sign * taken.memory
        self.weight_cpu += sign * taken.weight_cpu
        self.weight_memory += sign * taken.weight_memory
        for name, value in taken.others:
            self.used_others[name] = self.used_others.get(name, 0) + sign * value
