"""A CronJob makes one job for the newest time that has come, and keeps a few old ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from quintant.api.batch import CronJob, CronJobSpec, CronJobStatus, Job, JobCondition, JobStatus
from quintant.cluster.controllers.cronjob.plan import job_name, jobs_to_remove, next_due, too_late
from quintant.core.clock import timestamp
from quintant.core.cron import parse
from quintant.core.object import ObjectMeta

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def cron(created: datetime = NOON, last: datetime | None = None, **spec: Any) -> CronJob:
    return CronJob(
        metadata=ObjectMeta(name="a", creation_timestamp=timestamp(created)),
        spec=CronJobSpec(**spec),
        status=CronJobStatus(last_schedule_time=timestamp(last) if last else None),
    )


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


def test_nothing_is_due_before_its_time() -> None:
    assert next_due(cron(), parse("*/5 * * * *"), NOON + minutes(4.9)) is None


def test_first_time_after_creation_is_due() -> None:
    found = next_due(cron(), parse("*/5 * * * *"), NOON + minutes(5))
    assert found is not None
    assert (found.at, found.many) == (NOON + minutes(5), False)


def test_of_missed_times_the_newest_is_due() -> None:
    found = next_due(cron(), parse("*/5 * * * *"), NOON + minutes(23))
    assert found is not None
    assert found.at == NOON + minutes(20)


def test_many_missed_times_are_noticed() -> None:
    found = next_due(cron(NOON - timedelta(days=3)), parse("* * * * *"), NOON)
    assert found is not None
    assert (found.at, found.many) == (NOON, True)


def test_uneven_schedules_are_searched() -> None:
    found = next_due(cron(NOON - timedelta(days=2)), parse("* 9 * * *"), NOON)
    assert found is not None
    assert found.at == NOON.replace(hour=9, minute=59)


def test_intervals_count_from_the_last_time() -> None:
    last = NOON - minutes(100)
    found = next_due(cron(last=last), parse("@every 30m"), NOON)
    assert found is not None
    assert found.at == NOON - minutes(10)


def test_deadline_hides_what_is_older() -> None:
    held = cron(NOON - minutes(60), starting_deadline_seconds=90)
    assert next_due(held, parse("*/30 * * * *"), NOON + minutes(10)) is None
    assert too_late(held, NOON - minutes(2), NOON)
    assert not too_late(held, NOON - minutes(1), NOON)


def test_deadline_longer_than_any_time_hides_nothing() -> None:
    held = cron(NOON - minutes(60), starting_deadline_seconds=2**63 - 1)
    found = next_due(held, parse("*/30 * * * *"), NOON + minutes(10))
    assert found is not None
    assert found.at == NOON
    assert not too_late(held, NOON - minutes(600), NOON)


def test_schedule_without_any_time_is_refused() -> None:
    with pytest.raises(ValueError, match="less than 1 second"):
        next_due(cron(), parse("0 0 31 2 *"), NOON)


def test_oldest_jobs_are_superfluous() -> None:
    def job(name: str, outcome: str) -> Job:
        conditions = (JobCondition(type=outcome, status="True"),)
        status = JobStatus(start_time=f"2026-01-0{name}T00:00:00Z", conditions=conditions)
        return Job(metadata=ObjectMeta(name=name), status=status)

    jobs = [job("3", "Complete"), job("1", "Complete"), job("2", "Complete"), job("4", "Failed")]
    held = cron(successful_jobs_history_limit=1, failed_jobs_history_limit=1)
    assert [each.metadata.name for each in jobs_to_remove(held, jobs)] == ["1", "2"]
    assert jobs_to_remove(cron(), jobs) == []


def test_name_of_a_job_tells_its_minute() -> None:
    assert job_name(cron(), NOON) == f"a-{int(NOON.timestamp()) // 60}"
