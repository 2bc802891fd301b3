"""Carries out a step of a ScheduledVolumeSnapshot, action by action, up to the first refusal.

A pod is taken away under the lock of its CosmosFullNode, by what is read and planned again inside.
"""

from __future__ import annotations

from dataclasses import dataclass

from quintant.api.snapshot import VolumeSnapshot
from quintant.core.errors import AlreadyExists, ApiError, Conflict
from quintant.core.object import Request
from quintant.core.text import one_line
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.scheduled_volume_snapshot import ScheduledVolumeSnapshot
from quintant.operators.cosmos.remote.comet import CometCache
from quintant.operators.cosmos.scheduled_volume_snapshot.observe import observe
from quintant.operators.cosmos.scheduled_volume_snapshot.observed import SnapshotOutcome
from quintant.operators.cosmos.scheduled_volume_snapshot.plan.actions import (
    CheckPhase,
    CreateSnapshot,
    DeleteSnapshot,
    GiveBack,
    SnapshotAction,
    SnapshotStep,
    TakeAway,
)
from quintant.operators.cosmos.scheduled_volume_snapshot.plan.candidate import (
    given_back,
    is_candidate,
    taken_away,
)
from quintant.operators.cosmos.scheduled_volume_snapshot.plan.conclusion import (
    check_live,
    is_same_copy,
)
from quintant.runtime.cache.client import Client
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.key_locks import KeyLocks
from quintant.runtime.reconcile.status_writer import StatusWriter

SnapshotContext = Context[ScheduledVolumeSnapshot]


@dataclass(frozen=True, slots=True)
class SnapshotControl:
    """Takes pods away and gives them back, makes copies and deletes old ones."""

    cache: CometCache
    locks: KeyLocks

    async def __call__(self, ctx: SnapshotContext, step: SnapshotStep) -> SnapshotOutcome:
        """Do what a step says, in order; Conflict if it is a step of long ago."""
        for action in step.actions:
            try:
                if not await self._perform(ctx, action):
                    return SnapshotOutcome(lost=True)
            except Conflict:
                raise
            except ApiError as error:
                return SnapshotOutcome(refusal=(action.refusal, one_line(error.message)))
        return SnapshotOutcome()

    async def _perform(self, ctx: SnapshotContext, action: SnapshotAction) -> bool:
        """Whether an action could be done; only a pod can be lost to others."""
        match action:
            case CheckPhase():
                live = await ctx.client.find(ScheduledVolumeSnapshot, *ctx.request, live=True)
                check_live(ctx.obj, live)
            case TakeAway(pod):
                return await self._take_away(ctx, pod)
            case GiveBack():
                await give_back(ctx.statuses, ctx.obj)
            case CreateSnapshot(snapshot):
                await _create(ctx.client, snapshot)
            case DeleteSnapshot(snapshot):
                await ctx.client.delete(snapshot)
        return True

    async def _take_away(self, ctx: SnapshotContext, pod: str) -> bool:
        """Whether a pod was taken away: the budget is read again where no other spends it."""
        schedule, request = ctx.obj, _full_node(ctx.obj)
        async with self.locks.of(request):
            now = await observe(schedule, ctx.client, self.cache, ctx.clock.now())
            if not is_candidate(now, pod):
                return False
            await ctx.statuses.update(
                CosmosFullNode, request, lambda status: taken_away(status, schedule, pod)
            )
        return True


async def give_back(statuses: StatusWriter, schedule: ScheduledVolumeSnapshot) -> None:
    """Let the pod that was taken away come back."""
    await statuses.update(
        CosmosFullNode, _full_node(schedule), lambda status: given_back(status, schedule)
    )


async def _create(client: Client, wanted: VolumeSnapshot) -> None:
    try:
        await client.create(wanted)
    except AlreadyExists:
        if not is_same_copy(await client.find(VolumeSnapshot, *wanted.key, live=True), wanted):
            raise


def _full_node(schedule: ScheduledVolumeSnapshot) -> Request:
    return Request(schedule.spec.full_node_ref.name, schedule.metadata.namespace)
