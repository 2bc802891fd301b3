"""One reconcile of a CosmosFullNode: observe, bring its children in line, conclude.

    observe ──Observed──> act ──FullNodeOutcome──> observe again ──> conclude ──> status, events

What is read comes from the caches. A reconcile that finds everything as it should be writes
nothing, and asks no node anything.
"""

from __future__ import annotations

from dataclasses import dataclass

from quintant.operators.cosmos.act.full_node_control import FullNodeControl
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.metrics import CosmosMetrics
from quintant.operators.cosmos.observe.reader import observe
from quintant.operators.cosmos.plan.conclusion import conclude
from quintant.operators.cosmos.remote.comet import CometCache
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result


@dataclass(frozen=True, slots=True)
class CosmosFullNodeReconciler:
    """Reconciles CosmosFullNodes."""

    control: FullNodeControl
    cache: CometCache
    metrics: CosmosMetrics

    async def __call__(
        self, full_node: CosmosFullNode, ctx: Context[CosmosFullNode], /
    ) -> Result | None:
        if full_node.deleting:
            return None  # children go with it; nothing is made that would only be collected
        before = await observe(full_node, ctx.client, self.cache, ctx.clock.now())
        outcome = await self.control(ctx, before)
        # Conditions show the nodes' answers as they are now, and pods as they were left.
        observed = await observe(full_node, ctx.client, self.cache, ctx.clock.now(), before)
        self.metrics.show(observed)
        return await ctx.conclude(conclude(observed, outcome))
