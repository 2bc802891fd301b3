"""One pass over a cloud: is its provider there, does it accept us, who uses it."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.operators.infra.api import AnyCloud
from quintant.operators.infra.cloud.observe import CloudReader
from quintant.operators.infra.cloud.plan import next_look, plan
from quintant.operators.infra.options import Options
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result

JITTER = 0.1


def in_use(cloud: AnyCloud) -> bool:
    """Whether Clusters are bound to a cloud."""
    return cloud.status is not None and bool(cloud.status.bound_clusters)


@dataclass(frozen=True, slots=True)
class CloudReconciler:
    """Looks at clouds."""

    options: Options
    reader: CloudReader

    async def __call__(self, cloud: AnyCloud, ctx: Context[AnyCloud]) -> Result | None:
        seen = await self.reader.observe(ctx)
        status = plan(seen)
        await ctx.set_status(status)
        after = next_look(status.conditions, seen.now, self.options.observe_interval)
        return Result(after=ctx.random.jitter(after, JITTER))

    async def cleanup(self, cloud: AnyCloud, ctx: Context[AnyCloud]) -> Result | None:
        """Hold a cloud for as long as Clusters need it to be deleted themselves."""
        seen = await self.reader.observe(ctx)
        await ctx.set_status(plan(seen))
        return Result(after=self.options.observe_interval) if seen.users else None
