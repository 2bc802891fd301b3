"""Cron jobs: a Job whenever a schedule says so, and only as many old ones as somebody wants.

The tutorial of kubebuilder, with Quintant. What to do is decided by `plan`, a pure function of the
object, its Jobs and the time, which tests ask directly. The name of a Job follows from the time it
is for: after a crash the same Job is wanted, and it is there already.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Literal

from msgspec import Meta, Struct

from quintant import (
    Context,
    Custom,
    Manager,
    Model,
    ObjectMeta,
    Opaque,
    Result,
    Terminal,
    owned,
    resource,
)
from quintant.api.batch import Job, JobSpec
from quintant.core import codec, cron
from quintant.core.clock import parse_timestamp, timestamp
from quintant.core.schema.markers import default

SCHEDULED_AT = "tutorial.example.com/scheduled-at"
"""The annotation of a Job that says which time it is for."""
MOST_MISSED = 100
"""Of more times that were missed, none is made up for: a clock or a schedule is wrong."""
Limit = Annotated[int, Meta(ge=0)]


class CronJobSpec(Model):
    """When to run what, and what to keep of it."""

    schedule: Annotated[str, Meta(min_length=1, description="As of crontab(5).")]
    job_template: Annotated[Opaque, Meta(description="The spec of the Jobs.")]
    starting_deadline_seconds: Limit | None = None
    concurrency_policy: Annotated[
        Literal["Allow", "Forbid", "Replace"] | None, default("Allow")
    ] = None
    suspend: bool | None = None
    successful_jobs_history_limit: Annotated[Limit | None, default(3)] = None
    failed_jobs_history_limit: Annotated[Limit | None, default(1)] = None


class CronJobStatus(Model):
    """What runs, and when something last began."""

    active: tuple[str, ...] = ()
    last_schedule_time: str | None = None


@resource(
    group="tutorial.example.com",
    version="v1",
    status=True,
    columns={"Schedule": ".spec.schedule", "Suspend": ".spec.suspend"},
)
class CronJob(Custom[CronJobSpec, CronJobStatus]):
    """Jobs on a schedule."""


class Plan(Struct, frozen=True):
    """What to do now, and when to look again."""

    start: datetime | None = None
    """The time to make a Job for."""
    delete: tuple[Job, ...] = ()
    next: datetime | None = None


def plan(cronjob: CronJob, jobs: Sequence[Job], now: datetime) -> Plan:
    """Decide from the object, its Jobs and the time alone."""
    spec = cronjob.spec
    running = [job for job in jobs if not job.outcome]
    old = _old(jobs, "Complete", _or(spec.successful_jobs_history_limit, 3))
    old += _old(jobs, "Failed", _or(spec.failed_jobs_history_limit, 1))
    schedule = cron.parse(spec.schedule)
    due = None if spec.suspend else _due(cronjob, jobs, schedule, now)
    if due is not None and running and spec.concurrency_policy == "Forbid":
        due = None
    if due is not None and running and spec.concurrency_policy == "Replace":
        old += running
    return Plan(due, tuple(old), None if spec.suspend else schedule.after(now))


def _due(
    cronjob: CronJob, jobs: Sequence[Job], schedule: cron.Schedule, now: datetime
) -> datetime | None:
    """The last time that was missed and is not too late."""
    made = cronjob.metadata.creation_timestamp
    known = cronjob.status.last_schedule_time if cronjob.status is not None else None
    # A Job that a status does not tell of yet was made before a crash.
    times = [parse_timestamp(each) for each in (made, known) if each]
    since = max([*times, *filter(None, map(scheduled_at, jobs))])
    deadline = cronjob.spec.starting_deadline_seconds
    if deadline is not None:
        since = max(since, now - timedelta(seconds=deadline))
    missed: datetime | None = None
    for _ in range(MOST_MISSED):
        coming = schedule.after(missed or since)
        if coming is None or coming > now:
            return missed
        missed = coming
    raise Terminal(f"more than {MOST_MISSED} times were missed", reason="TooManyMissedTimes")


def _old(jobs: Sequence[Job], outcome: str, limit: int) -> list[Job]:
    """The Jobs that ended so, but for the newest few."""
    ended = sorted((job for job in jobs if job.outcome == outcome), key=_begun)
    return ended[: max(0, len(ended) - limit)]


def _begun(job: Job) -> str:
    return job.metadata.annotations.get(SCHEDULED_AT, "")


def scheduled_at(job: Job) -> datetime | None:
    """Which time a Job is for."""
    said = _begun(job)
    return parse_timestamp(said) if said else None


def build(cronjob: CronJob, at: datetime) -> Job:
    """The Job of a time."""
    name = f"{cronjob.metadata.name}-{int(at.timestamp())}"
    meta = ObjectMeta.like(cronjob, name=name, annotations={SCHEDULED_AT: timestamp(at)})
    return Job(metadata=meta, spec=codec.decode_model(JobSpec, cronjob.spec.job_template.raw))


async def reconcile(cronjob: CronJob, ctx: Context[CronJob]) -> Result | None:
    """Do what is planned, say what runs, and come back when the next time is."""
    try:
        todo = plan(cronjob, await ctx.owned(Job), ctx.clock.now())
    except ValueError as error:
        raise Terminal(f"{cronjob.spec.schedule!r} is no schedule: {error}") from error
    for job in todo.delete:
        await ctx.client.delete(job)
    if todo.start is not None:
        await ctx.apply(owned(build(cronjob, todo.start), by=cronjob))
    await ctx.set_status(_status(cronjob, await ctx.owned(Job)))
    now = ctx.clock.now()
    return Result(after=todo.next - now) if todo.next is not None else None


def _status(cronjob: CronJob, jobs: Sequence[Job]) -> CronJobStatus:
    known = cronjob.status.last_schedule_time if cronjob.status is not None else None
    last = max(filter(None, (known, *map(_begun, jobs))), default=None)
    active = sorted(job.metadata.name for job in jobs if not job.outcome)
    return CronJobStatus(active=tuple(active), last_schedule_time=last)


def _or(value: int | None, otherwise: int) -> int:
    return otherwise if value is None else value


def make_manager() -> Manager:
    """Everything the program runs."""
    manager = Manager("cronjob")
    manager.controls(CronJob).owns(Job).reconcile(reconcile)
    return manager


manager = make_manager()

if __name__ == "__main__":
    manager.run()
