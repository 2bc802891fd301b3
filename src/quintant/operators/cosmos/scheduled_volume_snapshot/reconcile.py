"""One step of a ScheduledVolumeSnapshot: observe, plan, act, and conclude where that led."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.operators.cosmos.api.scheduled_volume_snapshot import ScheduledVolumeSnapshot
from quintant.operators.cosmos.metrics import CosmosMetrics
from quintant.operators.cosmos.scheduled_volume_snapshot.act import SnapshotControl
from quintant.operators.cosmos.scheduled_volume_snapshot.observe import observe
from quintant.operators.cosmos.scheduled_volume_snapshot.plan.conclusion import (
    conclude,
    step_after,
)
from quintant.operators.cosmos.scheduled_volume_snapshot.plan.step import plan
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result


@dataclass(frozen=True, slots=True)
class ScheduledVolumeSnapshotReconciler:
    """Reconciles ScheduledVolumeSnapshots."""

    control: SnapshotControl
    metrics: CosmosMetrics

    async def __call__(
        self, schedule: ScheduledVolumeSnapshot, ctx: Context[ScheduledVolumeSnapshot], /
    ) -> Result | None:
        observed = await observe(schedule, ctx.client, self.control.cache, ctx.clock.now())
        step = plan(observed)
        done = step_after(observed, step, await self.control(ctx, step))
        again = await ctx.conclude(conclude(observed, done))
        self.metrics.count_snapshot(done.result)
        return again
