"""One pass over a node: say how it is."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.core.object import Request
from quintant.operators.shifu.api.node import EdgeNode, EdgeNodeStatus
from quintant.operators.shifu.edge_node.observe import node_devices
from quintant.operators.shifu.edge_node.plan import plan
from quintant.operators.shifu.observe.topology import Topology
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
