"""One pass of SelfHealing over a CosmosFullNode: what is full, what is behind, and what follows."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.core.object import Request
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.observe import observe
from quintant.operators.cosmos.self_healing.act import DriftControl, GrowthControl
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result

PASS_SECONDS = 60.0
CONFIRM_SECONDS = 6.0
"""A node that is behind is looked at again once it was asked again."""


@dataclass(frozen=True, slots=True)
class HealingReconcile:
    """Heals CosmosFullNodes whose users ask for it."""

    growth: GrowthControl
    drift: DriftControl

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
            await self.growth(ctx, observed, wanted.pvc_auto_scale)
        soon, behind = False, wanted.height_drift_mitigation
        if behind is not None:
            soon = await self.drift(ctx, observed, behind.threshold)
        return Result(after=CONFIRM_SECONDS if soon else PASS_SECONDS)

    def forget(self, request: Request) -> None:
        """Remember nothing of a CosmosFullNode: it is gone."""
        self.drift.seen.pop(request, None)
