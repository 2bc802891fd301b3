"""One pass of SelfHealing over a CosmosFullNode: what is full, what is behind, and what follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quintant.core.object import Request
from quintant.operators.cosmos.api.full_node import CosmosFullNode, PvcAutoScale
from quintant.operators.cosmos.metrics import CosmosMetrics
from quintant.operators.cosmos.observe import Observed, observe
from quintant.operators.cosmos.remote import NodeRemote
from quintant.operators.cosmos.self_healing.act import DriftControl, ask_growth
from quintant.operators.cosmos.self_healing.observe import ask_usage
from quintant.operators.cosmos.self_healing.plan import DriftSighting, plan_growth, sightings
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result

PASS_SECONDS = 60.0
CONFIRM_SECONDS = 6.0
"""A node that is behind is looked at again once it was asked again."""


@dataclass(frozen=True, slots=True)
class HealingReconcile:
    """Heals CosmosFullNodes whose users ask for it."""

    remote: NodeRemote
    drift: DriftControl
    metrics: CosmosMetrics
    seen: dict[Request, Mapping[str, DriftSighting]] = field(default_factory=dict)
    """When nodes were first seen behind."""

    async def __call__(self, crd: CosmosFullNode, ctx: Context[CosmosFullNode], /) -> Result | None:
        """One pass."""
        wanted = crd.spec.self_heal
        if wanted is None or crd.deleting:
            self.forget(ctx.request)
            return None
        observed = await observe(crd, ctx.client, self.drift.cache, ctx.clock.now())
        if observed.errors:
            return Result(after=PASS_SECONDS)
        if wanted.pvc_auto_scale is not None:
            await self._grow(ctx, observed, wanted.pvc_auto_scale)
        behind = wanted.height_drift_mitigation
        if behind is None:
            return Result(after=PASS_SECONDS)
        before = self.seen.get(ctx.request, {})
        await self.drift(ctx, behind.threshold, before)
        found = self.seen[ctx.request] = sightings(observed, behind.threshold, before)
        return Result(after=CONFIRM_SECONDS if found.keys() - before.keys() else PASS_SECONDS)

    def forget(self, request: Request) -> None:
        """Remember nothing of a CosmosFullNode: it is gone."""
        self.seen.pop(request, None)

    async def _grow(
        self, ctx: Context[CosmosFullNode], observed: Observed, scale: PvcAutoScale
    ) -> None:
        used, failed = await ask_usage(observed, self.remote)
        if not used:
            said = "; ".join(failed) or "there are no pods"
            ctx.event("PVCAutoScaleCollectUsage", f"No sidecar told: {said}", type="Warning")
            return
        self.metrics.show_disks(observed, used)
        if sizes := plan_growth(observed, scale, used):
            await ask_growth(ctx, sizes)
