"""One step of a StatefulJob: observe, plan, act, conclude."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.operators.cosmos.api.stateful_job import StatefulJob
from quintant.operators.cosmos.stateful_job.act import act
from quintant.operators.cosmos.stateful_job.observe import observe
from quintant.operators.cosmos.stateful_job.plan import conclude, plan
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result


@dataclass(frozen=True, slots=True)
class StatefulJobReconciler:
    """Reconciles StatefulJobs."""

    async def __call__(self, owner: StatefulJob, ctx: Context[StatefulJob], /) -> Result | None:
        if owner.deleting:
            return None
        observed = await observe(owner, ctx.client, ctx.clock.now())
        step = plan(observed)
        refusal = await act(ctx.client, step)
        return await ctx.conclude(conclude(observed, step, refusal))
