"""One pass of the scheduler over a Cluster.

    candidates ──> plan ──SchedulePlan──> write_status ──> conclude

A binding is a record: it is written as one, fenced, before the pass concludes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from quintant.operators.infra.act.status import write_status
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.scheduler.observe import candidates, waits
from quintant.operators.infra.scheduler.plan import plan
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.keyed_state import KeyedState
from quintant.runtime.reconcile.result import Result


@dataclass(frozen=True, slots=True)
class ClusterSchedulerReconciler:
    """Binds Clusters that wait, or says why they cannot be; `warned` has whom it warned of."""

    warned: KeyedState[bool] = field(default_factory=lambda: KeyedState(bool))

    async def __call__(self, cluster: Cluster, ctx: Context[Cluster]) -> Result | None:
        if not waits(cluster):
            self.warned.forget(ctx.request)
            return None
        clouds = await candidates(ctx.client, ctx.request.namespace)
        planned = plan(cluster, clouds, ctx.clock.now(), warned=self.warned[ctx.request])
        await write_status(ctx, cluster, planned.change)
        self.warned[ctx.request] = planned.warned
        return await ctx.conclude(planned.conclusion)
