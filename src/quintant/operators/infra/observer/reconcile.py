"""One pass of the observer: whom to look at, what the last looks showed, what that means.

    observe ──TargetObserved──> plan ──TargetPlan──> write_status ──> conclude

Three controllers write the status of a Cluster, and its events follow from what a write changed.
"""

from __future__ import annotations

from dataclasses import dataclass

from quintant.operators.infra.act.status import write_status
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.observer.observe import TargetReader
from quintant.operators.infra.observer.plan import plan
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result


@dataclass(frozen=True, slots=True)
class ClusterObserverReconciler:
    """Says of made clusters whether they answer, and whether their nodes are healthy."""

    reader: TargetReader

    async def __call__(self, cluster: Cluster, ctx: Context[Cluster]) -> Result | None:
        planned = plan(await self.reader.observe(ctx))
        await write_status(ctx, cluster, planned.change)
        return await ctx.conclude(planned.conclusion)
