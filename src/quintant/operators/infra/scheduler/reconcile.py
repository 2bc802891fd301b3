"""One pass of the scheduler over a Cluster."""

from __future__ import annotations

from quintant.operators.infra.act.status import write_status
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.scheduler.observe import candidates, waits
from quintant.operators.infra.scheduler.plan import plan
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result

# Clouds wake those who wait; this is for what no watch tells.
AGAIN_SECONDS = 60.0


async def schedule(cluster: Cluster, ctx: Context[Cluster]) -> Result | None:
    """Bind a Cluster that waits, or say why it cannot be."""
    if not waits(cluster):
        return None
    found = await candidates(ctx.client, ctx.request.namespace)
    change = plan(cluster, found, ctx.clock.now())
    await write_status(ctx, ctx.obj, change)
    return None if change.fields else Result(after=AGAIN_SECONDS)
