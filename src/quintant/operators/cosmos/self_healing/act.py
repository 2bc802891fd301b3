"""Carries out what heals: sizes go into the status, pods are restarted, instances begin anew.

What is done to a node is noted in the status first: whoever goes on after a crash must not do it
again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from quintant.api.volume import PersistentVolumeClaim
from quintant.core.clock import timestamp
from quintant.core.errors import ApiError, Conflict
from quintant.core.object import Request, replace
from quintant.core.text import one_line
from quintant.operators.cosmos.act.pod_control import DisruptionLocks
from quintant.operators.cosmos.api.full_node import (
    CosmosFullNode,
    CrashLoopRebuild,
    PvcAutoScale,
    SelfHeal,
)
from quintant.operators.cosmos.api.status import (
    FullNodeStatus,
    PvcAutoScaling,
    SelfHealingStatus,
)
from quintant.operators.cosmos.cache.observe import CometCache
from quintant.operators.cosmos.metrics import CosmosMetrics
from quintant.operators.cosmos.observe.observed import ChainNode, Observed
from quintant.operators.cosmos.observe.reader import reread
from quintant.operators.cosmos.remote import NodeRemote
from quintant.operators.cosmos.self_healing.observe import ask_peers, ask_usage
from quintant.operators.cosmos.self_healing.plan import (
    DRIFT,
    FirstSeen,
    NodeTrouble,
    plan_growth,
    plan_restarts,
    sightings,
    troubles,
)
from quintant.operators.cosmos.self_healing.rules import (
    Restarts,
    noted,
    plan_rebuild,
    restart_count,
)
from quintant.runtime.controller.context import Context

HealingContext = Context[CosmosFullNode]
HealingChange = Callable[[SelfHealingStatus], SelfHealingStatus]
TOLD = {DRIFT: "HeightDriftMitigation", "stall": "StallRestart"}
"""The event that tells of a restart, by what was wrong."""


async def change_healing(ctx: HealingContext, change: HealingChange) -> None:
    """Change what the status says of healing, and nothing else."""

    def changed(status: FullNodeStatus | None) -> FullNodeStatus:
        known = status or FullNodeStatus()
        return replace(known, self_healing=change(known.self_healing))

    await ctx.update_status(changed)


@dataclass(frozen=True, slots=True)
class GrowthControl:
    """Has volumes grow that are fuller than the mark."""

    remote: NodeRemote
    metrics: CosmosMetrics

    async def __call__(self, ctx: HealingContext, observed: Observed, scale: PvcAutoScale) -> None:
        """Ask how full the volumes are, and for larger ones."""
        used, failed = await ask_usage(observed, self.remote)
        if not used:
            said = "; ".join(failed) or "there are no pods"
            ctx.event("PVCAutoScaleCollectUsage", f"No sidecar told: {said}", type="Warning")
            return
        self.metrics.show_disks(observed, used)
        if sizes := plan_growth(observed, scale, used):
            await self._ask(ctx, sizes)

    async def _ask(self, ctx: HealingContext, wanted: Mapping[str, PvcAutoScaling]) -> None:
        """The controller of the CosmosFullNode reads from the status what it is to ask for."""
        try:
            await change_healing(
                ctx, lambda it: replace(it, pvc_auto_scaler={**it.pvc_auto_scaler, **wanted})
            )
        except Conflict:
            raise
        except ApiError as error:
            ctx.event("PVCAutoScaleSignalResize", one_line(error.message), type="Warning")
            return
        sizes = ", ".join(f"{name} to {it.requested_size}" for name, it in sorted(wanted.items()))
        ctx.event("PVCAutoScale", f"Volumes fill up and grow: {sizes}")


@dataclass(frozen=True, slots=True)
class RestartControl:
    """Restarts nodes with which something is wrong, within the budget of everybody."""

    remote: NodeRemote
    cache: CometCache
    locks: DisruptionLocks
    metrics: CosmosMetrics
    seen: dict[Request, Mapping[str, FirstSeen]] = field(default_factory=dict)
    """What was first seen of nodes."""
    alone: dict[Request, dict[str, datetime]] = field(default_factory=dict)
    """Since when nodes have no peers, by the uid of their pods."""

    async def __call__(self, ctx: HealingContext, observed: Observed, wanted: SelfHeal) -> bool:
        """Restart what is due; whether something was seen that is to be confirmed soon."""
        before, key = self.seen.get(ctx.request, {}), ctx.request
        if wanted.stall is not None:
            self.alone[key] = await ask_peers(observed, self.remote, self.alone.get(key, {}))
        await self._restart_due(ctx, wanted, before)
        found = sightings(troubles(observed, wanted, self.alone.get(key, {})), before)
        self.seen[key] = found
        return bool(found.keys() - before.keys())

    def forget(self, request: Request) -> None:
        """Remember nothing of a CosmosFullNode."""
        self.seen.pop(request, None)
        self.alone.pop(request, None)

    async def _restart_due(
        self, ctx: HealingContext, wanted: SelfHeal, seen: Mapping[str, FirstSeen]
    ) -> None:
        async with self.locks.of(ctx.request):
            now = await reread(ctx, self.cache)
            alone = self.alone.get(ctx.request, {})
            due = plan_restarts(now, wanted, alone, seen) if now is not None else []
            done = [each for each in due if await self._restart(ctx, each)]
        for each in done:
            self.metrics.restarts.labels(each.reason).inc()
            ctx.event(TOLD[each.reason], f"Restarted {each.node.name}: {each.said}")

    async def _restart(self, ctx: HealingContext, found: NodeTrouble) -> bool:
        pod, moment = found.node.pod, timestamp(ctx.clock.now())
        if pod is None:
            return False
        await change_healing(
            ctx,
            lambda it: replace(it, restarted_at={**it.restarted_at, found.node.name: moment}),
        )
        try:
            await ctx.client.delete(pod, foreground=True)
        except Conflict:
            raise
        except ApiError as error:
            said = one_line(error.message)
            ctx.event(f"{TOLD[found.reason]}DeletePod", said, type="Warning")
            return False
        self.cache.invalidate(pod.metadata.uid)
        return True


@dataclass(frozen=True, slots=True)
class RebuildControl:
    """Lets an instance that ends again and again begin anew, from a copy."""

    cache: CometCache
    locks: DisruptionLocks
    metrics: CosmosMetrics
    restarts: dict[str, Restarts] = field(default_factory=dict)
    """By the uid of pods."""
    refused: dict[Request, str] = field(default_factory=dict)
    """What was last told of one that cannot."""

    async def __call__(
        self, ctx: HealingContext, observed: Observed, wanted: CrashLoopRebuild
    ) -> None:
        """Look how often programs were restarted, and rebuild one instance if it is due."""
        for node in observed.nodes:
            if node.pod is not None:
                uid = node.pod.metadata.uid
                known = self.restarts.get(uid, ())
                self.restarts[uid] = noted(known, restart_count(node), wanted, observed.now)
        async with self.locks.of(ctx.request):
            now = await reread(ctx, self.cache)
            if now is None:
                return
            plan = plan_rebuild(now, wanted, self.restarts)
            if plan.node is not None:
                await self._rebuild(ctx, plan.node)
        if plan.refused != self.refused.get(ctx.request, ""):
            self.refused[ctx.request] = plan.refused
            if plan.refused:
                ctx.event("CrashLoopRebuildRefused", plan.refused, type="Warning")

    async def _rebuild(self, ctx: HealingContext, node: ChainNode) -> None:
        name, moment, place = node.name, timestamp(ctx.clock.now()), ctx.request.namespace
        await change_healing(
            ctx, lambda it: replace(it, rebuilt_at={**it.rebuilt_at, name: moment})
        )
        claim = await ctx.client.find(PersistentVolumeClaim, node.instance.claim, place)
        if claim is not None:
            await ctx.client.delete(claim, foreground=True)
        if node.pod is not None:
            await ctx.client.delete(node.pod, foreground=True)
            self.restarts.pop(node.pod.metadata.uid, None)
        self.metrics.restarts.labels("rebuild").inc()
        ctx.event("CrashLoopRebuild", f"{name} ends again and again; it begins anew from a copy")
