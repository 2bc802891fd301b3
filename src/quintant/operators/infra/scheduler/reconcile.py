"""One pass of the scheduler over a Cluster."""

from __future__ import annotations

from quintant.api.events import PlannedEvent
from quintant.core.object import Request
from quintant.operators.infra.act.status import write_status
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.scheduler.observe import candidates, waits
from quintant.operators.infra.scheduler.plan import bound, patience, plan, unmatched
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result

# Clouds wake those who wait; this is for what no watch tells.
AGAIN_SECONDS = 60.0


class CloudScheduler:
    """Binds Clusters that wait, or says why they cannot be."""

    def __init__(self) -> None:
        self._warned: set[Request] = set()

    async def __call__(self, cluster: Cluster, ctx: Context[Cluster]) -> Result | None:
        if not waits(cluster):
            self.forget(ctx.request)
            return None
        found = await candidates(ctx.client, ctx.request.namespace)
        change = plan(cluster, found, ctx.clock.now())
        await write_status(ctx, ctx.obj, change)
        if bound(change):
            return None
        return Result(after=self._warn(ctx, unmatched(change)))

    def forget(self, request: Request) -> None:
        """Warn of a namesake again."""
        self._warned.discard(request)

    def _warn(self, ctx: Context[Cluster], why: str) -> float:
        """Warn of what has been so for a while, once; seconds until the next look."""
        if not why or ctx.request in self._warned:
            return AGAIN_SECONDS
        rest = patience(ctx.obj, ctx.clock.now())
        if rest > 0:
            return rest
        self._warned.add(ctx.request)
        ctx.tell(PlannedEvent("Warning", "NoMatchingCloud", why))
        return AGAIN_SECONDS
