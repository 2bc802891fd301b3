"""One pass of SelfHealing over a CosmosFullNode: what is full, what is wrong, and what follows."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.core.object import Request
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.observe.reader import observe
from quintant.operators.cosmos.self_healing.act import (
    GrowthControl,
    RebuildControl,
    RestartControl,
)
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result

PASS_SECONDS = 60.0
CONFIRM_SECONDS = 6.0
"""A node with which something is wrong is looked at again once it was asked again."""


@dataclass(frozen=True, slots=True)
class HealingReconcile:
    """Heals CosmosFullNodes whose users ask for it."""

    growth: GrowthControl
    restart: RestartControl
    rebuild: RebuildControl

    async def __call__(self, crd: CosmosFullNode, ctx: Context[CosmosFullNode], /) -> Result | None:
        """One pass."""
        wanted = crd.spec.self_heal
        if wanted is None or crd.deleting:
            self.forget(ctx.request)
            return None
        observed = await observe(crd, ctx.client, self.restart.cache, ctx.clock.now())
        if observed.errors:
            return Result(after=PASS_SECONDS)
        if wanted.pvc_auto_scale is not None:
            await self.growth(ctx, observed, wanted.pvc_auto_scale)
        if wanted.crash_loop is not None:
            await self.rebuild(ctx, observed, wanted.crash_loop)
        soon = await self.restart(ctx, observed, wanted)
        return Result(after=CONFIRM_SECONDS if soon else PASS_SECONDS)

    def forget(self, request: Request) -> None:
        """Remember nothing of a CosmosFullNode: it is gone."""
        self.restart.forget(request)
        self.rebuild.refused.pop(request, None)
