"""One reconcile: what the chain has planned goes into the status, if its user asks to know."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.remote import NodeRemote
from quintant.operators.cosmos.remote.comet import CometCache
from quintant.operators.cosmos.upgrade_plans.observe import observe
from quintant.operators.cosmos.upgrade_plans.plan import plan
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result


@dataclass(frozen=True, slots=True)
class UpgradePlanReconciler:
    """Asks chains what they have planned."""

    remote: NodeRemote
    cache: CometCache

    async def __call__(
        self, full_node: CosmosFullNode, ctx: Context[CosmosFullNode], /
    ) -> Result | None:
        if not full_node.spec.chain.watch_upgrade_plans or full_node.deleting:
            return None
        return await ctx.conclude(plan(await observe(ctx, self.cache, self.remote)))
