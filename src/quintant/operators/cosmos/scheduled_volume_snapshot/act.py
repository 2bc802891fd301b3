"""Carries out a step of a ScheduledVolumeSnapshot: first what it does, then where it leads.

A pod is taken away and given back by an entry in the status of its CosmosFullNode, whose own
controller deletes and makes the pod.
"""

from __future__ import annotations

from quintant.api.snapshot import VolumeSnapshot
from quintant.core.errors import AlreadyExists, ApiError, Conflict, Status
from quintant.core.object import Request, replace
from quintant.core.text import one_line
from quintant.operators.cosmos.act.pod_control import DisruptionLocks
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.status import FullNodeStatus, SnapshotCandidate
from quintant.operators.cosmos.cache.observe import CometCache
from quintant.operators.cosmos.scheduled_volume_snapshot.api import (
    ScheduledVolumeSnapshot,
    SnapshotScheduleStatus,
)
from quintant.operators.cosmos.scheduled_volume_snapshot.observe import (
    SnapshotView,
    phase_of,
    view,
)
from quintant.operators.cosmos.scheduled_volume_snapshot.plan import (
    SnapshotStep,
    candidate_of,
    refused,
)
from quintant.runtime.cache.client import Client
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.status_writer import StatusWriter


async def act(
    ctx: Context[ScheduledVolumeSnapshot],
    seen: SnapshotView,
    done: SnapshotStep,
    cache: CometCache,
    locks: DisruptionLocks,
) -> SnapshotStep:
    """Do what a step says; the step that it came to. Conflict if it is a step of long ago."""
    reason = ""
    try:
        if done.take_away or done.give_back or done.create is not None:
            await _check_phase(ctx.client, seen.schedule)
        if done.take_away:
            reason = "DeletePodError"
            if not await _take_away(ctx, done.take_away, cache, locks):
                return SnapshotStep(replace(done.status, phase="FindingCandidate"))
        if done.give_back:
            reason = "RestorePodError"
            await give_back(ctx.statuses, seen.schedule)
        if done.create is not None:
            reason = "CreateVolumeSnapshotError"
            await _create(ctx.client, done.create)
        reason = "DeleteOldSnapshotsError"
        for old in done.delete:
            await ctx.client.delete(old)
    except Conflict:
        raise
    except ApiError as error:
        return refused(seen, done, reason, one_line(error.message))
    return done


async def _check_phase(client: Client, schedule: ScheduledVolumeSnapshot) -> None:
    """Raise Conflict if the server knows of another phase: a list that we began with was old."""
    live = await client.find(ScheduledVolumeSnapshot, *schedule.key, live=True)
    if live is None or live.metadata.uid != schedule.metadata.uid:
        raise behind(schedule)
    check_phase(schedule, live.status)


def check_phase(schedule: ScheduledVolumeSnapshot, now: SnapshotScheduleStatus | None) -> None:
    """Raise Conflict if a newer status is in another phase than ours."""
    if phase_of(replace(schedule, status=now)) != phase_of(schedule):
        raise behind(schedule)


def behind(schedule: ScheduledVolumeSnapshot) -> Conflict:
    """That our view of a schedule is old."""
    message = f"ScheduledVolumeSnapshot {schedule.key} went on, and our cache is behind"
    return Conflict(Status(code=409, reason="Conflict", message=message))


async def give_back(statuses: StatusWriter, schedule: ScheduledVolumeSnapshot) -> None:
    """Let the pod that was taken away come back."""
    key = schedule.candidate_key

    def without(status: FullNodeStatus | None) -> FullNodeStatus:
        known = status or FullNodeStatus()
        held = known.scheduled_snapshot_status
        kept = {name: each for name, each in held.items() if name != key}
        return replace(known, scheduled_snapshot_status=kept)

    await statuses.update(CosmosFullNode, _full_node(schedule), without)


async def _take_away(
    ctx: Context[ScheduledVolumeSnapshot], pod: str, cache: CometCache, locks: DisruptionLocks
) -> bool:
    """Whether a pod was taken away: the budget is looked at again where nobody else spends it."""
    schedule = ctx.obj
    async with locks.of(_full_node(schedule)):
        now = await view(schedule, ctx.client, cache, ctx.clock.now())
        found = candidate_of(now)
        if isinstance(found, str) or found.name != pod or found.pod is None:
            return False
        entry = {schedule.candidate_key: SnapshotCandidate(pod_candidate=pod)}

        def taken(status: FullNodeStatus | None) -> FullNodeStatus:
            known = status or FullNodeStatus()
            held = {**known.scheduled_snapshot_status, **entry}
            return replace(known, scheduled_snapshot_status=held)

        await ctx.statuses.update(CosmosFullNode, _full_node(schedule), taken)
    return True


async def _create(client: Client, wanted: VolumeSnapshot) -> None:
    try:
        await client.create(wanted)
    except AlreadyExists:
        # Made by us before a crash; one of another volume is somebody else's.
        found = await client.find(VolumeSnapshot, *wanted.key, live=True)
        if found is not None and found.spec.source != wanted.spec.source:
            raise


def _full_node(schedule: ScheduledVolumeSnapshot) -> Request:
    return Request(schedule.spec.full_node_ref.name, schedule.metadata.namespace)
