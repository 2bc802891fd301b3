"""One step of a ScheduledVolumeSnapshot: look, decide, do, and write where that leads."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.operators.cosmos.act.pod_control import DisruptionLocks
from quintant.operators.cosmos.cache.observe import CometCache
from quintant.operators.cosmos.metrics import CosmosMetrics
from quintant.operators.cosmos.scheduled_volume_snapshot.act import act, check_phase
from quintant.operators.cosmos.scheduled_volume_snapshot.api import (
    ScheduledVolumeSnapshot,
    SnapshotScheduleStatus,
)
from quintant.operators.cosmos.scheduled_volume_snapshot.observe import view
from quintant.operators.cosmos.scheduled_volume_snapshot.plan import TOLD, step, with_condition
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result
from quintant.runtime.events.transitions import transition_events


@dataclass(frozen=True, slots=True)
class SnapshotReconcile:
    """Reconciles ScheduledVolumeSnapshots."""

    cache: CometCache
    locks: DisruptionLocks
    metrics: CosmosMetrics

    async def __call__(
        self, schedule: ScheduledVolumeSnapshot, ctx: Context[ScheduledVolumeSnapshot], /
    ) -> Result | None:
        """One step."""
        seen = await view(schedule, ctx.client, self.cache, ctx.clock.now())
        done = await act(ctx, seen, step(seen), self.cache, self.locks)
        after = with_condition(seen, done)
        if after != schedule.status:

            def gone_on(now: SnapshotScheduleStatus | None) -> SnapshotScheduleStatus:
                check_phase(schedule, now)
                return after

            await ctx.update_status(gone_on)
        if done.result:
            self.metrics.snapshots.labels(done.result).inc()
        ctx.tell(*transition_events(seen.status.conditions, after.conditions, TOLD))
        return None if done.after is None else Result(after=done.after)
