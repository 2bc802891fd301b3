"""kwok Nodes: what they have, where they are, and what they say of themselves. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from ipaddress import IPv4Network
from zlib import crc32

from msgspec import Struct

from quintant.api.node import NodeAddress, NodeStatus, NodeSystemInfo
from quintant.api.quantity import Quantity
from quintant.cluster.common.labels import SIMULATED
from quintant.cluster.common.node_conditions import node_conditions
from quintant.cluster.common.node_faults import NodeFault
from quintant.cluster.simulated.views import SimNode
from quintant.core.object import ObjectMeta, replace
from quintant.version import KUBERNETES

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
SIZE: Mapping[str, Quantity] = {
    "cpu": Quantity("8"),
    "memory": Quantity("32Gi"),
    "pods": Quantity("110"),
    "ephemeral-storage": Quantity("100Gi"),
}
"""What a simulated node has that does not say otherwise: a common machine."""
REGION_NAME = "region-1"
NOWHERE = IPv4Network("10.244.0.0/14")
"""A quarter of a million addresses at which nobody answers."""
_LABELS = {
    SIMULATED: "true",
    "beta.kubernetes.io/arch": "amd64",
    "beta.kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/os": "linux",
    "node.kubernetes.io/instance-type": "simulated",
    "node-role.kubernetes.io/simulated": "",
}
_INFO = NodeSystemInfo(
    os_image="simulated",
    kernel_version="simulated",
    container_runtime_version="simulated://1.0",
    kubelet_version=KUBERNETES,
    operating_system="linux",
    architecture="amd64",
)


class Fleet(Struct, frozen=True):
    """How many simulated nodes a cluster begins with, and in how many zones."""

    nodes: int = 0
    zones: int = 3
    """Three, as most clouds have."""
    pods: IPv4Network = NOWHERE
    """Where pods have their addresses; on loopback, something may answer in their stead."""

    def members(self, now: datetime) -> Iterator[SimNode]:
        """The nodes: sim-0001, sim-0002, … one zone after the other, ready from the start."""
        for number in range(1, self.nodes + 1):
            name, zone = f"sim-{number:04}", f"zone-{_letter((number - 1) % self.zones)}"
            places = {"kubernetes.io/hostname": name, ZONE: zone, REGION: REGION_NAME}
            made = SimNode(metadata=ObjectMeta(name=name, labels={**_LABELS, **places}))
            yield replace(made, status=status_of(made, NodeFault.NONE, now))


def status_of(node: SimNode, fault: NodeFault, now: datetime) -> NodeStatus:
    """What a node says of itself; what it has is kept if somebody has said it already."""
    status = node.status
    return NodeStatus(
        capacity=status.capacity or SIZE,
        allocatable=status.allocatable or status.capacity or SIZE,
        conditions=node_conditions(status, fault, now),
        addresses=status.addresses or _addresses(node.metadata.name),
        node_info=_INFO,
    )


def host_ip(name: str) -> str:
    """The address of a simulated node: nobody answers there, but it is always the same."""
    number = crc32(name.encode())
    return f"10.{number >> 16 & 63}.{number >> 8 & 255}.{number & 255}"


def _addresses(name: str) -> tuple[NodeAddress, ...]:
    return (
        NodeAddress(type="InternalIP", address=host_ip(name)),
        NodeAddress(type="Hostname", address=name),
    )


def _letter(number: int) -> str:
    return chr(ord("a") + number) if number < 26 else f"z{number}"
