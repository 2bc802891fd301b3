"""What is done before a ScheduledVolumeSnapshot may go: the pod that is away comes back."""

from __future__ import annotations

from quintant.operators.cosmos.api.scheduled_volume_snapshot import ScheduledVolumeSnapshot
from quintant.operators.cosmos.scheduled_volume_snapshot.act import give_back
from quintant.runtime.reconcile.context import Context


async def cleanup(schedule: ScheduledVolumeSnapshot, ctx: Context[ScheduledVolumeSnapshot]) -> None:
    """Give back the pod that is away; copies stay."""
    await give_back(ctx.statuses, schedule)
