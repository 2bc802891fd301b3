"""Simulated nodes: what they have, where they are, and what they say of themselves. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from zlib import crc32

from msgspec import Struct

from quintant.api.meta import condition_of
from quintant.api.node import NodeAddress, NodeCondition, NodeStatus, NodeSystemInfo
from quintant.api.quantity import Quantity
from quintant.cluster.common.labels import SIMULATED
from quintant.cluster.simulated.faults import NodeFault
from quintant.cluster.simulated.views import SimNode
from quintant.core.clock import timestamp
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
# Type, status when all is well, reason and message then.
_WELL = (
    (
        "MemoryPressure",
        "False",
        "KubeletHasSufficientMemory",
        "kubelet has sufficient memory available",
    ),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)
_FAULTY = {
    NodeFault.NOT_READY: ("Ready", "False", "KubeletNotReady", "the node was told not to be ready"),
    NodeFault.FULL: (
        "MemoryPressure",
        "True",
        "KubeletHasInsufficientMemory",
        "kubelet has insufficient memory available",
    ),
}


class Fleet(Struct, frozen=True):
    """How many simulated nodes a cluster begins with, and in how many zones."""

    nodes: int = 0
    zones: int = 3
    """Three, as most clouds have."""

    def members(self, now: datetime) -> Iterator[SimNode]:
        """The nodes: sim-0001, sim-0002, … one zone after the other, ready from the start."""
        for number in range(1, self.nodes + 1):
            name, zone = f"sim-{number:04}", f"zone-{_letter((number - 1) % self.zones)}"
            places = {"kubernetes.io/hostname": name, ZONE: zone, REGION: REGION_NAME}
            made = SimNode(metadata=ObjectMeta(name=name, labels={**_LABELS, **places}))
            yield replace(made, status=status_of(made, NodeFault.NONE, now))


def status_of(node: SimNode, fault: NodeFault, now: datetime) -> NodeStatus:
    """What a node says of itself; what it has is kept if somebody has said it already."""
    said = node.status
    return NodeStatus(
        capacity=said.capacity or SIZE,
        allocatable=said.allocatable or said.capacity or SIZE,
        conditions=tuple(_condition(node, *each, now) for each in _verdicts(fault)),
        addresses=said.addresses or _addresses(node.metadata.name),
        node_info=_INFO,
    )


def unchanged(node: SimNode, wanted: NodeStatus) -> bool:
    """Whether a node says all that, whenever it last said it."""
    return _timeless(node.status) == _timeless(wanted)


def host_ip(name: str) -> str:
    """The address of a simulated node: nobody answers there, but it is always the same."""
    number = crc32(name.encode())
    return f"10.{number >> 16 & 63}.{number >> 8 & 255}.{number & 255}"


def _verdicts(fault: NodeFault) -> Iterator[tuple[str, str, str, str]]:
    wrong = _FAULTY.get(fault)
    for each in _WELL:
        yield wrong if wrong is not None and wrong[0] == each[0] else each


def _condition(
    node: SimNode, type: str, status: str, reason: str, message: str, now: datetime
) -> NodeCondition:
    known = condition_of(node.status.conditions, type)
    since = known.last_transition_time if known is not None and known.status == status else None
    return NodeCondition(
        type=type,
        status=status,
        reason=reason,
        message=message,
        last_heartbeat_time=timestamp(now),
        last_transition_time=since or timestamp(now),
    )


def _addresses(name: str) -> tuple[NodeAddress, ...]:
    return (
        NodeAddress(type="InternalIP", address=host_ip(name)),
        NodeAddress(type="Hostname", address=name),
    )


def _timeless(status: NodeStatus) -> NodeStatus:
    known = {each[0] for each in _WELL}
    conditions = sorted(
        (
            replace(each, last_heartbeat_time=None, last_transition_time=None)
            for each in status.conditions
            if each.type in known
        ),
        key=lambda each: each.type,
    )
    return replace(status, conditions=tuple(conditions))


def _letter(number: int) -> str:
    return chr(ord("a") + number) if number < 26 else f"z{number}"
