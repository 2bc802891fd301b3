"""ttlSecondsAfterFinished: Jobs are deleted some time after they ended, with their pods."""

from __future__ import annotations

from datetime import datetime, timedelta

from quintant.api.batch import Job
from quintant.api.meta import condition_of
from quintant.cluster.controllers.pods.views import parse_time
from quintant.core.object import Request
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.result import Result

NAME = "ttl-after-finished-controller"


def declare(manager: Manager) -> None:
    """Add the controller to a manager."""
    (
        manager.keyed(NAME)
        .watches(Job, to=lambda job: [job.key] if expiry(job) else [])
        .uses(Job, "delete")
        .reconcile(reconcile)
    )


async def reconcile(request: Request, ctx: KeyContext) -> Result | None:
    """Delete a job whose time has come, or come back when it has."""
    job = await ctx.client.find(Job, *request)
    end = expiry(job) if job is not None else None
    if job is None or end is None or job.deleting:
        return None
    left = (end - ctx.clock.now()).total_seconds()
    if left > 0:
        return Result(after=left)
    # Unchanged, for somebody may just have given it more time.
    await ctx.client.delete(job, foreground=True, unchanged=True)
    return None


def expiry(job: Job) -> datetime | None:
    """When a job is to be deleted; None if it has not ended, or does not ask for it."""
    ttl, ended = (
        job.spec.ttl_seconds_after_finished,
        condition_of(job.status.conditions, job.outcome),
    )
    since = parse_time(ended.last_transition_time) if ended is not None else None
    return since + timedelta(seconds=ttl) if since is not None and ttl is not None else None
