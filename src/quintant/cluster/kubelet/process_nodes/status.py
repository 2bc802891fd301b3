"""setNodeStatus: the status of a node of this machine: what was declared, and faults. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from quintant.api.core import Node
from quintant.api.node import NodeAddress, NodeStatus, NodeSystemInfo
from quintant.api.quantity import Quantity
from quintant.cluster.common.node_conditions import ConditionFields, node_conditions
from quintant.cluster.common.node_faults import NodeFault
from quintant.core.object import Object
from quintant.core.resource import projection

NO_CAPACITY = "NoCapacity"
"""The reason of a node that cannot take pods because nobody said what it has."""
PODS = 110
"""How many pods a node takes that we make, as kubelets say unless they are told otherwise."""
_NEEDED = ("cpu", "memory", "pods")
_EXAMPLE = """{"status":{"capacity":{"cpu":"2","memory":"4Gi","pods":"110"}}}"""


@projection(Node)
class ProcessNodeView(Object):
    """A node, as its kubelet sees it."""

    status: NodeStatus = NodeStatus()


def process_node_status(
    node: ProcessNodeView, address: str, info: NodeSystemInfo, fault: NodeFault, now: datetime
) -> NodeStatus:
    """The status of a node; its capacity is as somebody has declared it, and all of it is free."""
    status, name = node.status, node.metadata.name
    return NodeStatus(
        capacity=status.capacity,
        allocatable=status.capacity,
        conditions=node_conditions(status, fault, now, _without_capacity(name, status.capacity)),
        addresses=(
            NodeAddress(type="InternalIP", address=address),
            NodeAddress(type="Hostname", address=name),
        ),
        node_info=info,
    )


def lacking(capacity: Mapping[str, Quantity]) -> tuple[str, ...]:
    """What a node has to declare, and does not."""
    return tuple(each for each in _NEEDED if each not in capacity)


def capacity_advice(name: str, missing: tuple[str, ...]) -> str:
    """What is missing, and what to do about it."""
    return (
        f"status.capacity has no {', '.join(missing)}: declare it, as in kubectl patch node {name} "
        f"--subresource=status -p '{_EXAMPLE}'"
    )


def _without_capacity(name: str, capacity: Mapping[str, Quantity]) -> ConditionFields | None:
    missing = lacking(capacity)
    return ("Ready", "False", NO_CAPACITY, capacity_advice(name, missing)) if missing else None
