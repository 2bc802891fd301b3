"""syncCronJob: notes what became of its Jobs, deletes old ones, and creates the next in time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from quintant.api.batch import CronJob, CronJobStatus, Job
from quintant.api.meta import ObjectReference
from quintant.cluster.controllers.cronjob.plan import job_name, jobs_to_remove, next_due, too_late
from quintant.cluster.controllers.pods.control import namespace_terminating
from quintant.core.clock import timestamp
from quintant.core.cron import Schedule, parse
from quintant.core.errors import AlreadyExists, ApiError
from quintant.core.object import Object, ObjectMeta, Opaque, replace
from quintant.core.owner import has_owner, owned
from quintant.core.resource import projection, resource_of
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result

SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
"""The annotation of a job that says for which time it was made, in the schedule's zone."""
_LONG = "%a, %d %b %Y %H:%M:%S %z"
_FORBIDDEN = "Not starting job because prior execution is running and concurrency policy is Forbid"


@projection(Job)
class NewJob(Object):
    """A job to be made: its spec is a template's."""

    spec: Opaque = Opaque(b"{}")


async def reconcile(cron: CronJob, ctx: Context[CronJob]) -> Result | None:
    """Make the jobs of a CronJob in time."""
    jobs = await ctx.owned(Job)
    status = _observed(cron, jobs, ctx)
    for job in jobs_to_remove(cron, jobs):
        await _delete(job, ctx)
    cron = replace(cron, status=status)
    if cron.spec.suspend:
        return await _written(cron, None, ctx)
    schedule = _schedule(cron, ctx)
    if schedule is None:
        return await _written(cron, None, ctx)
    status = await _start(cron, schedule, jobs, ctx)
    return await _written(replace(cron, status=status), schedule, ctx)


async def _written(
    cron: CronJob, schedule: Schedule | None, ctx: Context[CronJob]
) -> Result | None:
    await ctx.client.set_status(ctx.obj, cron.status)
    now = ctx.clock.now()
    next_time = schedule.after(now) if schedule is not None else None
    return None if next_time is None else Result(after=(next_time - now).total_seconds())


def _observed(cron: CronJob, jobs: Sequence[Job], ctx: Context[CronJob]) -> CronJobStatus:
    """The status, with what became of the jobs that were made."""
    by_uid = {job.metadata.uid: job for job in jobs}
    active: list[ObjectReference] = []
    for ref in cron.status.active:
        job = by_uid.get(ref.uid)
        if job is None:
            ctx.event("MissingJob", f"Active job went missing: {ref.name}")
        elif job.outcome:
            note = f"Saw completed job: {ref.name}, condition: {job.outcome}"
            ctx.event("SawCompletedJob", note, action=ref.name)
        else:
            active.append(ref)
    _warn_unexpected_jobs(cron, jobs, ctx)
    ends = [job.status.completion_time for job in jobs if job.outcome == "Complete"]
    last = max(filter(None, (cron.status.last_successful_time, *ends)), default=None)
    return replace(cron.status, active=tuple(active), last_successful_time=last)


def _warn_unexpected_jobs(cron: CronJob, jobs: Sequence[Job], ctx: Context[CronJob]) -> None:
    """Tell of jobs that somebody else made in the CronJob's name."""
    known = {ref.uid for ref in cron.status.active}
    for job in jobs:
        if not job.outcome and job.metadata.uid not in known:
            name = job.metadata.name
            note = f"Saw a job that the controller did not create or forgot: {name}"
            ctx.event("UnexpectedJob", note, type="Warning", action=name)


def _schedule(cron: CronJob, ctx: Context[CronJob]) -> Schedule | None:
    spec = cron.spec
    if spec.time_zone:
        try:
            parse("@daily", spec.time_zone)
        except ValueError as error:
            note = f'invalid timeZone: "{spec.time_zone}": {error}'
            ctx.event("UnknownTimeZone", note, type="Warning")
            return None
    try:
        return parse(spec.schedule, spec.time_zone or "")
    except ValueError as error:
        note = f'unparseable schedule: "{spec.schedule}" : {error}'
        ctx.event("UnparseableSchedule", note, type="Warning")
        return None


async def _start(
    cron: CronJob, schedule: Schedule, jobs: Sequence[Job], ctx: Context[CronJob]
) -> CronJobStatus:
    """Make a job if it is time for one; the status afterwards."""
    now, status = ctx.clock.now(), cron.status
    at = _time(cron, schedule, now, ctx)
    if at is None or not _free(cron, at, ctx):
        return status
    if cron.spec.concurrency_policy == "Replace":
        running = {ref.uid for ref in status.active}
        for job in jobs:
            if job.metadata.uid in running:
                await _delete(job, ctx)
        status = replace(status, active=())
    made = await _create_job(cron, at, schedule, ctx)
    if made is None:
        return status
    return replace(
        status, active=(*status.active, _reference(made)), last_schedule_time=timestamp(at)
    )


def _free(cron: CronJob, at: datetime, ctx: Context[CronJob]) -> bool:
    """Whether a job may be made for a time: there was none yet, and no other is in its way."""
    status = cron.status
    if status.last_schedule_time == timestamp(at):
        return False
    if any(ref.name == job_name(cron, at) for ref in status.active):
        return False
    if cron.spec.concurrency_policy == "Forbid" and status.active:
        ctx.event("JobAlreadyActive", _FORBIDDEN)
        return False
    return True


def _time(
    cron: CronJob, schedule: Schedule, now: datetime, ctx: Context[CronJob]
) -> datetime | None:
    """The time for which a job is to be made now."""
    try:
        found = next_due(cron, schedule, now)
    except ValueError as error:
        note = f"invalid schedule: {cron.spec.schedule} : {error}"
        ctx.event("InvalidSchedule", note, type="Warning")
        return None
    if found is None:
        return None
    if found.many:
        note = (
            "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check "
            "clock skew"
        )
        ctx.event("TooManyMissedTimes", note, type="Warning")
    if too_late(cron, found.at, now):
        note = f"Missed scheduled time to start a job: {found.at.strftime(_LONG)}"
        ctx.event("MissSchedule", note, type="Warning")
        return None
    return found.at


async def _create_job(
    cron: CronJob, at: datetime, schedule: Schedule, ctx: Context[CronJob]
) -> Object | None:
    """The job for a time, made now or by an earlier turn that could not tell of it."""
    template, name = cron.spec.job_template, job_name(cron, at)
    local = at.astimezone(schedule.zone)
    scheduled_at = timestamp(at) if local.utcoffset() == at.utcoffset() else local.isoformat()
    meta = ObjectMeta(
        name=name,
        namespace=cron.metadata.namespace,
        labels=template.metadata.labels,
        annotations={**template.metadata.annotations, SCHEDULED: scheduled_at},
    )
    try:
        made = await ctx.client.create(owned(NewJob(metadata=meta, spec=template.spec), by=cron))
    except AlreadyExists:
        there = await ctx.client.get(Job, name, cron.metadata.namespace, live=True)
        return there if has_owner(there, cron) else None
    except ApiError as error:
        if not namespace_terminating(error):
            ctx.event("FailedCreate", f"Error creating job: {error.message}", type="Warning")
        raise
    ctx.event("SuccessfulCreate", f"Created job {name}", action=name)
    return made


async def _delete(job: Job, ctx: Context[CronJob]) -> None:
    name = job.metadata.name
    await ctx.client.delete(job)
    ctx.event("SuccessfulDelete", f"Deleted job {name}", action=name)


def _reference(job: Object) -> ObjectReference:
    resource, meta = resource_of(Job), job.metadata
    return ObjectReference(
        api_version=resource.api_version,
        kind=resource.kind,
        name=meta.name,
        namespace=meta.namespace,
        uid=meta.uid,
        resource_version=meta.resource_version,
    )
