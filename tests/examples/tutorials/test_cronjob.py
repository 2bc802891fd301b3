"""The cron job tutorial: one Job for every time, whatever goes wrong."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from examples_support import load_example
from quintant import Manager, Opaque, Terminal, replace
from quintant.api.batch import Job, JobCondition, JobStatus
from quintant.api.events import Event
from quintant.core.clock import timestamp
from quintant.testing import (
    FaultMode,
    InProcessCluster,
    Scenario,
    ScenarioWorld,
    explore_scenario,
    kind,
    named,
)

example = load_example("tutorials/cronjob/cronjob")
CronJob, CronJobSpec, plan = example.CronJob, example.CronJobSpec, example.plan
TEMPLATE = Opaque.of(
    {
        "template": {
            "spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "echo"}]}
        }
    }
)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def cronjob(**spec: Any) -> Any:
    given = {"schedule": "*/5 * * * *", "job_template": TEMPLATE, **spec}
    meta = named("a", creation_timestamp=timestamp(NOON - timedelta(minutes=1)))
    return CronJob(metadata=meta, spec=CronJobSpec(**given))


def job(minutes: int, outcome: str = "") -> Job:
    at = NOON + timedelta(minutes=minutes)
    conditions = (JobCondition(type=outcome, status="True"),) if outcome else ()
    meta = named(f"a-{minutes}", annotations={example.SCHEDULED_AT: timestamp(at)})
    return Job(metadata=meta, status=JobStatus(conditions=conditions))


def names(jobs: tuple[Job, ...]) -> list[str]:
    return [each.metadata.name for each in jobs]


@pytest.mark.parametrize(
    ("spec", "jobs", "minutes", "start"),
    [
        ({}, [], 3, 0),
        ({}, [job(0)], 3, None),
        ({}, [job(0)], 12, 10),
        ({"suspend": True}, [], 12, None),
        ({"starting_deadline_seconds": 60}, [], 3, None),
        ({"starting_deadline_seconds": 240}, [], 3, 0),
        ({"concurrency_policy": "Forbid"}, [job(0)], 6, None),
        ({"concurrency_policy": "Forbid"}, [job(0, "Complete")], 6, 5),
        ({"concurrency_policy": "Replace"}, [job(0)], 6, 5),
    ],
)
def test_what_is_due(spec: Any, jobs: list[Job], minutes: int, start: int | None) -> None:
    todo = plan(cronjob(**spec), jobs, NOON + timedelta(minutes=minutes))
    assert todo.start == (None if start is None else NOON + timedelta(minutes=start))


def test_old_jobs_go_but_for_the_newest() -> None:
    jobs = [job(-5 * at, "Complete") for at in range(6)] + [job(-60, "Failed"), job(-90, "Failed")]
    todo = plan(cronjob(), jobs, NOON + timedelta(minutes=1))
    assert names(todo.delete) == ["a--25", "a--20", "a--15", "a--90"]


def test_what_runs_is_replaced_if_that_is_asked_for() -> None:
    todo = plan(cronjob(concurrency_policy="Replace"), [job(0)], NOON + timedelta(minutes=6))
    assert names(todo.delete) == ["a-0"]


def test_too_many_missed_times_are_not_made_up_for() -> None:
    with pytest.raises(Terminal, match="more than 100 times"):
        plan(cronjob(), [], NOON + timedelta(days=1))


async def test_every_five_minutes_there_is_a_job(cluster: InProcessCluster) -> None:
    await cluster.run(example.make_manager())
    await cluster.create(replace(cronjob(), metadata=named("a")))
    await cluster.advance(16 * 60)
    times = sorted(each.metadata.annotations[example.SCHEDULED_AT] for each in await jobs(cluster))
    assert [each[14:16] for each in times] == ["05", "10", "15"]


async def test_a_crash_after_a_job_makes_no_second_one(cluster: InProcessCluster) -> None:
    doomed = await cluster.run(example.make_manager())
    await cluster.create(replace(cronjob(), metadata=named("a")))
    await cluster.eventually(CronJob, "a", until=lambda it: it.status is not None)
    with cluster.faults.answer(503, when=kind(CronJob, sub="status")):
        await cluster.advance(301)
        await cluster.crash(doomed)
    assert len(await jobs(cluster)) == 1
    await cluster.run(example.make_manager())
    found = await cluster.eventually(
        CronJob, "a", until=lambda it: it.status.last_schedule_time is not None
    )
    assert found.status.last_schedule_time == "2026-01-01T00:05:00Z"
    assert found.status.active == (f"a-{int(datetime(2026, 1, 1, 0, 5, tzinfo=UTC).timestamp())}",)
    assert len(await jobs(cluster)) == 1


async def test_a_schedule_that_is_none_is_told(cluster: InProcessCluster) -> None:
    await cluster.run(example.make_manager())
    await cluster.create(replace(cronjob(schedule="whenever"), metadata=named("a")))
    await cluster.advance(5)
    assert any("'whenever' is no schedule" in it.note for it in await cluster.client.list(Event))


async def jobs(cluster: InProcessCluster) -> list[Job]:
    return list(await cluster.client.list(Job, live=True))


class CronJobLife(Scenario):
    """It is made, runs once, and goes."""

    bound = 120.0  # seconds: what comes later is not waited for, such as the next Job
    # A Job that somebody deletes is not run a second time.
    modes = tuple(
        mode
        for mode in FaultMode
        if mode
        not in (
            FaultMode.CHILD_DELETED,
            FaultMode.CHILD_RECREATED,
            FaultMode.PARENT_DELETED,
        )
    )

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        return [example.make_manager()]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(replace(cronjob(schedule="*/10 * * * *"), metadata=named("a")))
        await world.quiet()
        await world.advance(610)
        await world.quiet()
        await world.delete(CronJob, "a")
        await world.quiet()

    def always(self, world: ScenarioWorld) -> None:
        assert len(world.all(Job)) <= 1, "two Jobs for one time"


def test_no_disturbance_of_a_life_can_be_seen_at_its_end() -> None:
    explore_scenario(CronJobLife).check()
