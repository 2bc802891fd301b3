"""Carries out what heals: sizes go into the status, pods are restarted, instances begin again.

What is done to a node is noted in the status first: after a crash it must not be done again. Nodes
are taken away under the lock of their CosmosFullNode, by what is read and planned again inside.
"""

from __future__ import annotations

from dataclasses import dataclass

from quintant.api.volume import PersistentVolumeClaim
from quintant.core.clock import timestamp
from quintant.core.errors import ApiError, Conflict
from quintant.core.text import one_line
from quintant.operators.cosmos.api.full_node import CosmosFullNode, CrashLoopRebuild, SelfHeal
from quintant.operators.cosmos.metrics import CosmosMetrics
from quintant.operators.cosmos.observe.reader import reread
from quintant.operators.cosmos.observed.full_node import ChainNode
from quintant.operators.cosmos.remote.comet import CometCache
from quintant.operators.cosmos.self_healing.observed import HealingMemory, HealingOutcome
from quintant.operators.cosmos.self_healing.plan.growth import GrowthPlan
from quintant.operators.cosmos.self_healing.plan.rebuild import plan_rebuild
from quintant.operators.cosmos.self_healing.plan.restarts import NodeRestart, node_restarts
from quintant.operators.cosmos.self_healing.plan.status import (
    note_rebuild,
    note_restart,
    note_sizes,
)
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.key_locks import KeyLocks

HealingContext = Context[CosmosFullNode]


@dataclass(frozen=True, slots=True)
class HealingControl:
    """Has volumes grow, rebuilds instances and restarts nodes, within one budget."""

    cache: CometCache
    locks: KeyLocks
    metrics: CosmosMetrics

    async def __call__(
        self,
        ctx: HealingContext,
        wanted: SelfHeal,
        memory: HealingMemory,
        growth: GrowthPlan | None,
    ) -> HealingOutcome:
        """Do what is due, volumes first."""
        outcome = HealingOutcome()
        if growth is not None:
            await _grow(ctx, growth)
        if wanted.crash_loop is not None:
            outcome = await self._rebuild(ctx, wanted.crash_loop, memory)
        await self._restart(ctx, wanted, memory)
        return outcome

    async def _rebuild(
        self, ctx: HealingContext, wanted: CrashLoopRebuild, memory: HealingMemory
    ) -> HealingOutcome:
        """Rebuild one instance, if that is due."""
        async with self.locks.of(ctx.request):
            now = await reread(ctx, self.cache)
            if now is None:
                return HealingOutcome()
            plan = plan_rebuild(now, wanted, memory.restarts)
            if plan.node is not None:
                await _delete_instance(ctx, plan.node)
                self.metrics.restarts.labels("rebuild").inc()
                ctx.tell(plan.event)
        return HealingOutcome(refused=plan.refused, rebuilt=plan.uid)

    async def _restart(self, ctx: HealingContext, wanted: SelfHeal, memory: HealingMemory) -> None:
        """Restart the nodes that are due."""
        async with self.locks.of(ctx.request):
            now = await reread(ctx, self.cache)
            for restart in node_restarts(now, wanted, memory) if now is not None else ():
                await self._delete_pod(ctx, restart)

    async def _delete_pod(self, ctx: HealingContext, restart: NodeRestart) -> None:
        pod, moment = restart.pod, timestamp(ctx.clock.now())
        await ctx.update_status(note_restart(pod.metadata.name, moment))
        try:
            await ctx.client.delete(pod, foreground=True)
        except Conflict:
            raise
        except ApiError as error:
            ctx.tell(restart.refusal(one_line(error.message)))
            return
        self.cache.invalidate(pod.metadata.uid)
        self.metrics.restarts.labels(restart.reason).inc()
        ctx.tell(restart.event)


async def _grow(ctx: HealingContext, growth: GrowthPlan) -> None:
    """The controller of the CosmosFullNode reads from the status how large claims are to be."""
    try:
        await ctx.update_status(note_sizes(growth.sizes))
    except Conflict:
        raise
    except ApiError as error:
        ctx.tell(growth.refusal(one_line(error.message)))
        return
    ctx.tell(growth.event)


async def _delete_instance(ctx: HealingContext, node: ChainNode) -> None:
    """Delete the volume and the pod of an instance; their controller makes both again."""
    await ctx.update_status(note_rebuild(node.name, timestamp(ctx.clock.now())))
    namespace = ctx.request.namespace
    claim = await ctx.client.find(PersistentVolumeClaim, node.instance.claim, namespace)
    for child in (claim, node.pod):
        if child is not None:
            await ctx.client.delete(child, foreground=True)
