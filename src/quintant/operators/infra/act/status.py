"""Writes the status of a Cluster: a change of one's own fields, and all that follows from it.

Events follow from the conditions before and after, so a pass in which nothing changes says nothing.
"""

from __future__ import annotations

from quintant.core.errors import Conflict, Status
from quintant.operators.infra.api import Cluster, ClusterStatus
from quintant.operators.infra.plan.events import TRANSITIONS
from quintant.operators.infra.plan.status import Change
from quintant.runtime.controller.context import Context
from quintant.runtime.events.transitions import transition_events


async def write_status(ctx: Context[Cluster], change: Change) -> None:
    """Make a change, and tell of it; nothing is sent if everything is so already."""
    now, known = ctx.clock.now(), ctx.obj
    if change.on(known, known.status, now) == known.status:
        return
    written = await ctx.statuses.update(
        Cluster, ctx.request, lambda status: change.on(known, status, now)
    )
    if written is not None:
        tell(ctx, written.status)


async def record_status(ctx: Context[Cluster], cluster: Cluster, change: Change) -> Cluster:
    """Make a change that must have been made before a provider is asked for anything.

    Conflict if somebody else is at work on the Cluster, or it is going: nothing was asked for.
    """
    now, before = ctx.clock.now(), _fenced(cluster.status)

    def recorded(status: ClusterStatus | None) -> ClusterStatus:
        if _fenced(status) != before:
            return status or ClusterStatus()
        return change.on(cluster, status, now)

    wanted = _fenced(change.on(cluster, cluster.status, now))
    written = await ctx.statuses.update(Cluster, ctx.request, recorded)
    lost = written is None or _fenced(written.status) != wanted
    if written is None or lost or written.metadata.uid != cluster.metadata.uid:
        raise _lost_race("somebody else is at work on it")
    if written.deleting != cluster.deleting:
        raise _lost_race("it is being deleted")
    tell(ctx, written.status)
    assert isinstance(written, Cluster), "it is what was asked for"
    return written


def tell(ctx: Context[Cluster], status: ClusterStatus | None) -> None:
    """Tell of conditions that changed."""
    before = ctx.obj.status.conditions if ctx.obj.status is not None else ()
    after = status.conditions if status is not None else ()
    ctx.tell(*transition_events(before, after, TRANSITIONS))


def _fenced(status: ClusterStatus | None) -> object:
    """What nobody but the writer of a record may have changed."""
    known = status or ClusterStatus()
    return known.operation, known.cluster_id, known.running_on, known.scheduled_to


def _lost_race(why: str) -> Conflict:
    return Conflict(Status(code=409, reason="Conflict", message=why))
