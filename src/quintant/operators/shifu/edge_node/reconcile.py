"""One pass over a node: say how it is; and one of the mirror: that it has its EdgeNode."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.core.errors import AlreadyExists
from quintant.core.object import Request
from quintant.operators.shifu.api.names import MIRRORED_LABEL
from quintant.operators.shifu.api.node import EdgeNode, EdgeNodeStatus
from quintant.operators.shifu.edge_node.builders import mirrored
from quintant.operators.shifu.edge_node.observe import node_devices
from quintant.operators.shifu.edge_node.plan import plan
from quintant.operators.shifu.observe.topology import Topology
from quintant.operators.shifu.observe.views import ShifuNode
from quintant.runtime.controller.context import KeyContext


@dataclass(frozen=True, slots=True)
class NodeStatusReconciler:
    """Says how an edge node is."""

    topology: Topology

    async def __call__(self, request: Request, ctx: KeyContext) -> None:
        record = self.topology.nodes.find(request.name)
        if record is None or record.edge is None:
            return
        edge = await ctx.client.find(EdgeNode, record.edge.metadata.name)
        if edge is None:
            return
        devices = node_devices(self.topology, request.name)
        before = edge.status or EdgeNodeStatus()
        decided = plan(record, before, devices, ctx.clock.now(), held=self.topology.held)
        if decided.status is not None:
            await ctx.client.set_status(edge, decided.status)
            ctx.tell(edge, *decided.events)


@dataclass(frozen=True, slots=True)
class MirrorReconciler:
    """Keeps an EdgeNode for every Node that can be one, unless a user wrote it."""

    topology: Topology

    async def __call__(self, request: Request, ctx: KeyContext) -> None:
        node = await ctx.client.find(ShifuNode, request.name)
        edge = await ctx.client.find(EdgeNode, request.name)
        record = self.topology.nodes.find(request.name)
        wanted = node is not None and record is not None
        if edge is None and wanted and node is not None:
            try:
                await ctx.client.create(mirrored(node))
            except AlreadyExists:
                return
        elif edge is not None and not wanted and _is_mirrored(edge):
            await ctx.client.delete(edge)


def _is_mirrored(edge: EdgeNode) -> bool:
    return edge.metadata.labels.get(MIRRORED_LABEL) == "true"
