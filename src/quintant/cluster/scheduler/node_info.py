"""A node's room: what it has, what is taken, and whether a pod still fits.

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
    amounts,
    collide,
)

FULL = "Too many pods"
SHORT = "Insufficient {}"
PORTS = "node(s) didn't have free ports for the requested pod ports"


class Guest(Struct, frozen=True):
    """A pod that has a place on a node."""

    pod: PodView
    demand: ResourceRequest
    node: str


class NodeInfo:
    """One node, and the pods on it."""

    __slots__ = (
        "cpu",
        "guests",
        "memory",
        "name",
        "node",
        "others",
        "pods",
        "ports",
        "used_cpu",
        "used_memory",
        "used_others",
        "weight_cpu",
        "weight_memory",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.node: NodeView | None = None
        """None while pods are on it that nobody has seen."""
        self.cpu = self.memory = self.pods = 0
        self.others: dict[str, int] = {}
        self.used_cpu = self.used_memory = 0
        self.used_others: dict[str, int] = {}
        self.weight_cpu = self.weight_memory = 0
        self.ports: set[HostPort] = set()
        self.guests: dict[str, Guest] = {}

    def furnish(self, node: NodeView | None) -> None:
        """Take what the node says it has."""
        self.node = node
        has = amounts(node.status.allocatable) if node is not None else {}
        self.cpu, self.memory = has.pop(CPU, 0), has.pop(MEMORY, 0)
        self.pods, self.others = has.pop(PODS, 0), has

    def enter(self, guest: Guest) -> None:
        """Give a pod its place."""
        self.guests[guest.pod.metadata.uid] = guest
        self._count(guest.demand, 1)
        self.ports |= guest.demand.ports

    def leave(self, guest: Guest) -> None:
        """Take a pod's place back."""
        del self.guests[guest.pod.metadata.uid]
        self._count(guest.demand, -1)
        if guest.demand.ports:
            self.ports = {port for other in self.guests.values() for port in other.demand.ports}

    def holds(self, wish: ResourceRequest) -> bool:
        """Whether there is enough left of everything."""
        if len(self.guests) >= self.pods or wish.cpu > self.cpu - self.used_cpu:
            return False
        if wish.memory > self.memory - self.used_memory:
            return False
        if wish.ports and collide(wish.ports, self.ports):
            return False
        return not wish.others or not any(self._lacks(*each) for each in wish.others)

    def lacking(self, wish: ResourceRequest) -> list[str]:
        """What there is not enough of, in the words of a real scheduler; ports come first."""
        if collide(wish.ports, self.ports):
            return [PORTS]
        found = [FULL] if len(self.guests) >= self.pods else []
        if wish.cpu > self.cpu - self.used_cpu:
            found.append(SHORT.format(CPU))
        if wish.memory > self.memory - self.used_memory:
            found.append(SHORT.format(MEMORY))
        return found + [
            SHORT.format(name) for name, asked in wish.others if self._lacks(name, asked)
        ]

    def hopeless(self, wish: ResourceRequest) -> bool:
        """Whether a pod would not fit even if the node were empty."""
        if wish.cpu > self.cpu or wish.memory > self.memory or not self.pods:
            return True
        return any(asked > self.others.get(name, 0) for name, asked in wish.others)

    def _lacks(self, name: str, asked: int) -> bool:
        return asked > self.others.get(name, 0) - self.used_others.get(name, 0)

    def _count(self, taken: ResourceRequest, sign: int) -> None:
        self.used_cpu += sign * taken.cpu
        self.used_memory += sign * taken.memory
        self.weight_cpu += sign * taken.weight_cpu
        self.weight_memory += sign * taken.weight_memory
        for name, value in taken.others:
            self.used_others[name] = self.used_others.get(name, 0) + sign * value
