"""One pass of the mirror over one name."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.core.errors import AlreadyExists
from quintant.core.object import Request
from quintant.operators.shifu.api.node import EdgeNode
from quintant.operators.shifu.mirror.builders import mirrored
from quintant.operators.shifu.mirror.plan import MirrorAction, plan
from quintant.operators.shifu.observed.node_view import ShifuNode
from quintant.operators.shifu.topology.topology import Topology
from quintant.runtime.reconcile.context import KeyContext


@dataclass(frozen=True, slots=True)
class MirrorReconciler:
    """Keeps an EdgeNode for every Node that can be one."""

    topology: Topology

    async def __call__(self, request: Request, ctx: KeyContext) -> None:
        node = await ctx.client.find(ShifuNode, request.name)
        edge = await ctx.client.find(EdgeNode, request.name)
        known = self.topology.nodes.find(request.name) is not None
        action = plan(edge, wanted=node is not None and known)
        if action is MirrorAction.CREATE and node is not None:
            try:
                await ctx.client.create(mirrored(node))
            except AlreadyExists:
                return
        elif action is MirrorAction.DELETE and edge is not None:
            await ctx.client.delete(edge)
