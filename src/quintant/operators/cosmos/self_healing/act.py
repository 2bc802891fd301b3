"""Carries out what heals: sizes go into the status, and pods that fell behind are deleted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quintant.core.clock import timestamp
from quintant.core.errors import ApiError, Conflict
from quintant.core.object import Request, replace
from quintant.core.text import one_line
from quintant.operators.cosmos.api.full_node import CosmosFullNode, PvcAutoScale
from quintant.operators.cosmos.api.status import FullNodeStatus, PvcAutoScaling
from quintant.operators.cosmos.cache.observe import CometCache
from quintant.operators.cosmos.metrics import CosmosMetrics
from quintant.operators.cosmos.observe import ChainNode, Observed, reread
from quintant.operators.cosmos.pod_control import DisruptionLocks
from quintant.operators.cosmos.remote import NodeRemote
from quintant.operators.cosmos.self_healing.observe import ask_usage
from quintant.operators.cosmos.self_healing.plan import (
    DriftSighting,
    plan_growth,
    plan_restarts,
    sightings,
)
from quintant.runtime.controller.context import Context

DRIFT = "HeightDriftMitigation"


async def ask_growth(ctx: Context[CosmosFullNode], wanted: Mapping[str, PvcAutoScaling]) -> None:
    """Have volumes grow: the controller of the CosmosFullNode reads it from the status."""

    def larger(status: FullNodeStatus | None) -> FullNodeStatus:
        known = status or FullNodeStatus()
        sizes = {**known.self_healing.pvc_auto_scaler, **wanted}
        return replace(known, self_healing=replace(known.self_healing, pvc_auto_scaler=sizes))

    try:
        await ctx.update_status(larger)
    except Conflict:
        raise
    except ApiError as error:
        ctx.event("PVCAutoScaleSignalResize", one_line(error.message), type="Warning")
        return
    sizes = ", ".join(f"{name} to {each.requested_size}" for name, each in sorted(wanted.items()))
    ctx.event("PVCAutoScale", f"Volumes fill up and grow: {sizes}")


@dataclass(frozen=True, slots=True)
class GrowthControl:
    """Has volumes grow that are fuller than the mark."""

    remote: NodeRemote
    metrics: CosmosMetrics

    async def __call__(
        self, ctx: Context[CosmosFullNode], observed: Observed, scale: PvcAutoScale
    ) -> None:
        """Ask how full the volumes are, and for larger ones."""
        used, failed = await ask_usage(observed, self.remote)
        if not used:
            said = "; ".join(failed) or "there are no pods"
            ctx.event("PVCAutoScaleCollectUsage", f"No sidecar told: {said}", type="Warning")
            return
        self.metrics.show_disks(observed, used)
        if sizes := plan_growth(observed, scale, used):
            await ask_growth(ctx, sizes)


@dataclass(frozen=True, slots=True)
class DriftControl:
    """Restarts nodes that fell behind, within the budget of everybody."""

    cache: CometCache
    locks: DisruptionLocks
    metrics: CosmosMetrics
    seen: dict[Request, Mapping[str, DriftSighting]] = field(default_factory=dict)
    """When nodes were first seen behind."""

    async def __call__(
        self, ctx: Context[CosmosFullNode], observed: Observed, threshold: int
    ) -> bool:
        """Delete the pods of nodes that are behind; whether others are to be confirmed soon."""
        before = self.seen.get(ctx.request, {})
        await self._restart_due(ctx, threshold, before)
        found = self.seen[ctx.request] = sightings(observed, threshold, before)
        return bool(found.keys() - before.keys())

    async def _restart_due(
        self, ctx: Context[CosmosFullNode], threshold: int, seen: Mapping[str, DriftSighting]
    ) -> None:
        async with self.locks.of(ctx.request):
            now = await reread(ctx, self.cache)
            due = plan_restarts(now, threshold, seen) if now is not None else []
            for node in due:
                await self._restart(ctx, node)
        if due:
            names = ", ".join(node.name for node in due)
            ctx.event(DRIFT, f"Restarted, because {threshold} blocks behind or more: {names}")

    async def _restart(self, ctx: Context[CosmosFullNode], node: ChainNode) -> None:
        if node.pod is None:
            return
        moment = timestamp(ctx.clock.now())

        def noted(status: FullNodeStatus | None) -> FullNodeStatus:
            known = status or FullNodeStatus()
            times = {**known.self_healing.restarted_at, node.name: moment}
            return replace(known, self_healing=replace(known.self_healing, restarted_at=times))

        # First the note: whoever goes on after a crash must not restart it again.
        await ctx.update_status(noted)
        try:
            await ctx.client.delete(node.pod, foreground=True)
        except Conflict:
            raise
        except ApiError as error:
            ctx.event(f"{DRIFT}DeletePod", one_line(error.message), type="Warning")
            return
        self.cache.invalidate(node.pod.metadata.uid)
        self.metrics.restarts.labels("drift").inc()
