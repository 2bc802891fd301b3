"""One pass over a node: say how it is."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.core.object import Request
from quintant.operators.shifu.api.node import EdgeNode, EdgeNodeStatus
from quintant.operators.shifu.edge_node.observe import node_devices
from quintant.operators.shifu.edge_node.plan import plan
from quintant.operators.shifu.topology.topology import Topology
from quintant.runtime.reconcile.context import KeyContext


@dataclass(frozen=True, slots=True)
class EdgeNodeReconciler:
    """Says in its status how an edge node is."""

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
        held = self.topology.held
        await ctx.conclude(edge, plan(record, before, devices, ctx.clock.now(), held=held))
