"""One pass of the CacheController: which pods are to be asked from now on. It writes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.views import NodePod
from quintant.operators.cosmos.builders.instances import instances
from quintant.operators.cosmos.cache.observe import CometCache, NodeTarget
from quintant.operators.cosmos.observe.observed import main_pods
from quintant.operators.cosmos.observe.triggers import OWNER
from quintant.runtime.controller.context import Context


@dataclass(frozen=True, slots=True)
class CacheReconcile:
    """Keeps the cache asking the pods that there are."""

    cache: CometCache

    async def __call__(self, crd: CosmosFullNode, ctx: Context[CosmosFullNode], /) -> None:
        found = await ctx.client.list(NodePod, index=(OWNER, crd.metadata.uid))
        pods = {each.metadata.name: each for each in main_pods(found)}
        chain = crd.spec.chain
        targets = {
            pod.metadata.uid: NodeTarget(
                pod.metadata.uid, pod.status.pod_ip, pod.rpc_port, chain.chain_id
            )
            for pod in pods.values()
            if pod.status.pod_ip
        }
        heights = crd.status.height if crd.status else {}
        marks = {
            pods[each.name].metadata.uid: _next_height(crd, heights.get(each.name, 0))
            for each in instances(crd)
            if each.name in pods
        }
        ready = [pod.metadata.uid for pod in pods.values() if pod.ready]
        self.cache.follow(ctx.request, targets, marks, ctx.clock, ready)


def _next_height(crd: CosmosFullNode, height: int) -> int:
    """Where the next version begins; 0 if there is none."""
    ahead = (each.height for each in crd.spec.chain.versions if each.height > height)
    return next(ahead, 0)
