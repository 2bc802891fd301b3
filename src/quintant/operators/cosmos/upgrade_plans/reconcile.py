"""One pass: what the chain has planned goes into the status, if its user asks to know."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.core.object import replace
from quintant.operators.cosmos.api import API_PORT
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.status import FullNodeStatus, UpgradeInfo
from quintant.operators.cosmos.cache.observe import CometCache
from quintant.operators.cosmos.observe.reader import observe
from quintant.operators.cosmos.remote import NodeRemote, NodeUnreachable, ask_once
from quintant.operators.cosmos.upgrade_plans.plan import PATH, parse_plan, whom_to_ask
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result

PASS_SECONDS = 60.0
"""A governance plan is announced hours ahead."""


@dataclass(frozen=True, slots=True)
class PlanReconcile:
    """Asks chains what they have planned."""

    remote: NodeRemote
    cache: CometCache

    async def __call__(self, crd: CosmosFullNode, ctx: Context[CosmosFullNode], /) -> Result | None:
        """One pass; a node that does not tell changes nothing."""
        if not crd.spec.chain.watch_upgrade_plans or crd.deleting:
            return None
        observed = await observe(crd, ctx.client, self.cache, ctx.clock.now())
        node = whom_to_ask(observed)
        if node is not None and node.pod is not None:
            try:
                body = await ask_once(self.remote, node.pod.status.pod_ip, API_PORT, PATH)
                planned = parse_plan(body)
            except (NodeUnreachable, ValueError) as error:
                ctx.log.debug("plan not told", pod=node.name, why=str(error))
            else:
                await self._tell(ctx, planned)
        return Result(after=PASS_SECONDS)

    async def _tell(self, ctx: Context[CosmosFullNode], planned: UpgradeInfo | None) -> None:
        known = ctx.obj.status.planned_upgrade if ctx.obj.status else None
        if planned != known:
            await ctx.update_status(
                lambda status: replace(status or FullNodeStatus(), planned_upgrade=planned)
            )
