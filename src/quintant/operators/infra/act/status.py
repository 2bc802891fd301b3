"""Writes the status of a Cluster: a change of one's own fields, and all that follows from it.

Events follow from the conditions before and after, so a pass in which nothing changes says nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from quintant.core.errors import Conflict, Status
from quintant.operators.infra.api import Cluster, ClusterStatus
from quintant.operators.infra.plan.decision import NOTHING
from quintant.operators.infra.plan.events import TRANSITIONS
from quintant.operators.infra.plan.status import StatusChange
from quintant.runtime.events.transitions import transition_events
from quintant.runtime.reconcile.context import Context

_RECORD = frozenset({"operation", "cluster_id", "running_on", "scheduled_to", "duplicates"})
"""Fields by which it is decided whether anything is asked of a provider."""


async def write_status(ctx: Context[Cluster], cluster: Cluster, change: StatusChange) -> bool:
    """Make a change, and tell of it; nothing is sent if everything is so already.

    False if the Cluster is gone, and only an old cache has it. Conflict if the change is to the
    record of an operation, and the record is not the one that it was decided by: an old cache
    would bring an operation back that is long over.
    """
    now, before, outdated = ctx.clock.now(), _fenced(cluster.status), False
    if change == NOTHING or change.on(cluster, cluster.status, now) == cluster.status:
        return True

    def changed(status: ClusterStatus | None) -> ClusterStatus:
        nonlocal outdated
        outdated = not _RECORD.isdisjoint(change.fields) and _fenced(status) != before
        return (status or ClusterStatus()) if outdated else change.on(cluster, status, now)

    written = await _update(ctx, changed)
    if written is None or written.metadata.uid != cluster.metadata.uid:
        return False
    if outdated:
        raise _lost_race("somebody else is at work on it")
    return True


async def record_status(ctx: Context[Cluster], cluster: Cluster, change: StatusChange) -> Cluster:
    """Make a change that must have been made before a provider is asked for anything.

    Conflict if another process is at work on the Cluster, or it is going: nothing was asked for.
    """
    now, before = ctx.clock.now(), _fenced(cluster.status)

    def recorded(status: ClusterStatus | None) -> ClusterStatus:
        if _fenced(status) != before:
            return status or ClusterStatus()
        return change.on(cluster, status, now)

    wanted = _fenced(change.on(cluster, cluster.status, now))
    written = await _update(ctx, recorded)
    if written is None or written.metadata.uid != cluster.metadata.uid:
        raise _lost_race("it is another one now")
    if _fenced(written.status) != wanted:
        raise _lost_race("somebody else is at work on it")
    if written.deleting != cluster.deleting:
        raise _lost_race("it is being deleted")
    return written


async def _update(
    ctx: Context[Cluster], change: Callable[[ClusterStatus | None], ClusterStatus]
) -> Cluster | None:
    """Change the newest status there is, and tell of what that changed."""
    before: ClusterStatus | None = None

    def noted(status: ClusterStatus | None) -> ClusterStatus:
        nonlocal before
        before = status
        return change(status)

    written = await ctx.statuses.update(Cluster, ctx.request, noted)
    if written is None:
        return None
    known = before.conditions if before is not None else ()
    after = written.status.conditions if written.status is not None else ()
    ctx.tell(*transition_events(known, after, TRANSITIONS))
    assert isinstance(written, Cluster), "it is what was asked for"
    return written


def _fenced(status: ClusterStatus | None) -> object:
    """What only the writer of a record may have changed."""
    known = status or ClusterStatus()
    return known.operation, known.cluster_id, known.running_on, known.scheduled_to


def _lost_race(why: str) -> Conflict:
    return Conflict(Status(code=409, reason="Conflict", message=why))
