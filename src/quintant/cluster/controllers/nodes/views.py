"""What the node controller sees of nodes, their leases and their pods."""

from __future__ import annotations

from quintant.api.coordination import Lease
from quintant.api.core import Node, NodeCondition
from quintant.api.meta import condition_of
from quintant.cluster.common.views import NodeSpecView
from quintant.core.object import Model, Object
from quintant.core.resource import projection

READY = "Ready"


class NodeStateStatus(Model):
    """How a node is."""

    conditions: tuple[NodeCondition, ...] = ()


@projection(Node)
class NodeState(Object):
    """A node, as its controller sees it."""

    spec: NodeSpecView = NodeSpecView()
    status: NodeStateStatus = NodeStateStatus()

    @property
    def ready(self) -> str:
        """True, False or Unknown; empty before anybody has said anything."""
        found = condition_of(self.status.conditions, READY)
        return found.status if found is not None else ""


class LeaseSpecView(Model):
    """When a lease was renewed."""

    renew_time: str | None = None


@projection(Lease)
class LeaseState(Object):
    """The lease of a node."""

    spec: LeaseSpecView = LeaseSpecView()
