"""Asks one node of a CosmosFullNode what its chain has planned."""

from __future__ import annotations

from quintant.operators.cosmos.api import API_PORT
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.observe.reader import observe as observe_full_node
from quintant.operators.cosmos.remote import NodeRemote, NodeUnreachable, ask_once
from quintant.operators.cosmos.remote.comet import CometCache
from quintant.operators.cosmos.upgrade_plans.observed import PlannedUpgrade
from quintant.operators.cosmos.upgrade_plans.plan import PATH, parse_plan, question
from quintant.runtime.reconcile.context import Context


async def observe(
    ctx: Context[CosmosFullNode], cache: CometCache, remote: NodeRemote
) -> PlannedUpgrade:
    """Read a CosmosFullNode, and ask the node that `question` names."""
    observed = await observe_full_node(ctx.obj, ctx.client, cache, ctx.clock.now())
    pod = question(observed)
    if pod is None:
        return PlannedUpgrade(observed)
    try:
        upgrade = parse_plan(await ask_once(remote, pod.status.pod_ip, API_PORT, PATH))
    except (NodeUnreachable, ValueError) as error:
        ctx.log.debug("plan not told", pod=pod.metadata.name, why=str(error))
        return PlannedUpgrade(observed)
    return PlannedUpgrade(observed, answered=True, upgrade=upgrade)
