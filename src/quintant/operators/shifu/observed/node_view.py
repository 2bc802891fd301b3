"""What is held of a Node: what it has to offer, and how it is."""

from __future__ import annotations

from collections.abc import Mapping

from quintant.api.core import Node, Taint
from quintant.api.node import NodeAddress, NodeCondition
from quintant.api.quantity import Quantity
from quintant.core.object import Model, Object
from quintant.core.resource import projection


class NodeSpecFields(Model):
    """How a node takes pods."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeStatusFields(Model):
    """What a node has, and how it is."""

    capacity: Mapping[str, Quantity] = {}
    allocatable: Mapping[str, Quantity] = {}
    conditions: tuple[NodeCondition, ...] = ()
    addresses: tuple[NodeAddress, ...] = ()


@projection(of=Node)
class ShifuNode(Object):
    """A Node, as a place for deviceShifus."""

    spec: NodeSpecFields = NodeSpecFields()
    status: NodeStatusFields = NodeStatusFields()
