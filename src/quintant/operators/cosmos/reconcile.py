"""One pass over a CosmosFullNode: observe, bring its children in line, say what is so.

    observe ──> Observed ──> act ──> FullNodeOutcome ──> conclude ──> status, events

What is read comes from the caches. A pass that finds everything as it should be writes nothing, and
asks no node anything.
"""

from __future__ import annotations

from dataclasses import dataclass

from quintant.operators.cosmos.act.full_node_control import FullNodeControl
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.cache.observe import CometCache
from quintant.operators.cosmos.metrics import CosmosMetrics
from quintant.operators.cosmos.observe.reader import observe
from quintant.operators.cosmos.plan.conclusion import conclude
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result


@dataclass(frozen=True, slots=True)
class FullNodeReconcile:
    """Reconciles CosmosFullNodes."""

    control: FullNodeControl
    cache: CometCache
    metrics: CosmosMetrics

    async def __call__(self, crd: CosmosFullNode, ctx: Context[CosmosFullNode], /) -> Result | None:
        """One pass."""
        if crd.deleting:
            return None  # children go with it; nothing is made that would only be collected
        observed = await observe(crd, ctx.client, self.cache, ctx.clock.now())
        outcome = await self.control(ctx, observed)
        # The nodes' answers are told as they are now, pods as they were left.
        seen = await observe(crd, ctx.client, self.cache, ctx.clock.now(), observed)
        done = conclude(seen, outcome)
        self.metrics.show(seen)
        if done.status != crd.status:
            await ctx.update_status(done.change)
        ctx.tell(*done.events)
        if done.error is not None:
            raise done.error
        return done.again
