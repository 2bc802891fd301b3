"""mostRecentScheduleTime, nextScheduleTimeDuration: whether a job is due, and old jobs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from quintant.api.batch import CronJob, Job
from quintant.cluster.controllers.pods.views import parse_time
from quintant.core.clock import capped_timedelta
from quintant.core.cron import Schedule

MANY = 100
"""Missed times beyond which something is wrong with a clock or a deadline."""

_SECOND = timedelta(seconds=1)


class ScheduledRun(Struct, frozen=True):
    """The time for which a job is to be made, and how many before it were missed."""

    at: datetime
    missed: int = 0

    @property
    def many(self) -> bool:
        return self.missed > MANY


def next_due(cron: CronJob, schedule: Schedule, now: datetime) -> ScheduledRun | None:
    """The newest time that has come and has no job yet; None if there is none.

    ValueError if the schedule means no time at all.
    """
    since = _since(cron)
    if cron.spec.starting_deadline_seconds is not None:
        since = max(since, now - capped_timedelta(cron.spec.starting_deadline_seconds))
    first = schedule.after(since)
    second = schedule.after(first) if first is not None else None
    if first is None or second is None:
        raise ValueError("time difference between two schedules is less than 1 second")
    if now < first:
        return None
    missed = int((now - first) / (second - first)) + 1 if now >= second else 0
    return ScheduledRun(_latest(schedule, first, now, second - first), missed)


def too_late(cron: CronJob, at: datetime, now: datetime) -> bool:
    """Whether a job for that time must not be made any more."""
    limit = cron.spec.starting_deadline_seconds
    return limit is not None and at + capped_timedelta(limit) < now


def jobs_to_remove(cron: CronJob, jobs: Iterable[Job]) -> list[Job]:
    """Ended jobs beyond those that are kept, the oldest first."""
    ended = [job for job in jobs if job.outcome and not job.deleting]
    limits = {
        "Complete": cron.spec.successful_jobs_history_limit,
        "Failed": cron.spec.failed_jobs_history_limit,
    }
    return [
        job
        for outcome, limit in limits.items()
        if limit is not None
        for job in _oldest([job for job in ended if job.outcome == outcome], limit)
    ]


def job_name(cron: CronJob, at: datetime) -> str:
    """The name of the job for a time: the same however often it is made."""
    return f"{cron.metadata.name}-{int(at.timestamp()) // 60}"


def _oldest(jobs: Sequence[Job], keep: int) -> list[Job]:
    ordered = sorted(jobs, key=lambda job: (job.status.start_time or "", job.metadata.name))
    return ordered[: max(0, len(ordered) - keep)]


def _since(cron: CronJob) -> datetime:
    last = parse_time(cron.status.last_schedule_time)
    created = parse_time(cron.metadata.creation_timestamp)
    found = last or created
    assert found is not None, "what the server has stored has a time of creation"
    return found


def _latest(schedule: Schedule, first: datetime, now: datetime, window: timedelta) -> datetime:
    """The last time up to now; not every schedule is even, so a growing window is searched."""
    if schedule.every is not None:
        return first + schedule.every * int((now - first) / schedule.every)
    found = schedule.after(now - window)
    while found is None or found > now:
        window *= 2
        found = schedule.after(max(first - _SECOND, now - window))
    while (later := schedule.after(found)) is not None and later <= now:
        found = later
    return max(first, found)
