"""One pass of the CacheController: which pods are to be asked from now on. It writes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.views import NodePod
from quintant.operators.cosmos.cache.plan import plan
from quintant.operators.cosmos.observe.triggers import OWNER
from quintant.operators.cosmos.remote.comet import CometCache
from quintant.runtime.reconcile.context import Context


@dataclass(frozen=True, slots=True)
class CacheReconciler:
    """Keeps the cache asking the pods that there are."""

    cache: CometCache

    async def __call__(self, full_node: CosmosFullNode, ctx: Context[CosmosFullNode], /) -> None:
        meta = full_node.metadata
        pods = await ctx.client.list(NodePod, meta.namespace, index=(OWNER, meta.uid))
        wanted = plan(full_node, pods)
        self.cache.follow(ctx.request, wanted.targets, wanted.marks, ctx.clock, wanted.ready)
