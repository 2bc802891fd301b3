"""CronJobs make jobs on time, on a server with their controllers and nothing else."""

from __future__ import annotations

import asyncio
from typing import Any

from quintant.cluster.controllers import cronjob, garbage
from quintant.cluster.controllers.job import ttl
from unit.cluster.api import Api, JsonObject
from unit.cluster.controllers.running_controllers import controlled, gone, until

BATCH = "/apis/batch/v1/namespaces/default"
CRONS, JOBS = f"{BATCH}/cronjobs", f"{BATCH}/jobs"
EVENTS = "/api/v1/namespaces/default/events"
TEMPLATE = {"spec": {"containers": [{"name": "a", "image": "a"}], "restartPolicy": "Never"}}


async def make(api: Api, schedule: str = "*/5 * * * *", **spec: Any) -> JsonObject:
    job = {"metadata": {"labels": {"x": "y"}}, "spec": {"template": TEMPLATE}}
    body = {"metadata": {"name": "a"}, "spec": {"schedule": schedule, "jobTemplate": job, **spec}}
    return await api.create(CRONS, body)


async def end(api: Api, name: str, outcome: str = "Complete") -> None:
    """Let a job end, as its controller would."""
    now = await api.create(
        EVENTS.replace("events", "configmaps"), {"metadata": {"generateName": "t"}}
    )
    at = now["metadata"]["creationTimestamp"]
    types = (
        ("SuccessCriteriaMet", "Complete") if outcome == "Complete" else ("FailureTarget", "Failed")
    )
    listed = [{"type": each, "status": "True", "lastTransitionTime": at} for each in types]
    time = {"completionTime": at} if outcome == "Complete" else {}
    status = {"startTime": at, "conditions": listed, **time}
    await api.merge(f"{JOBS}/{name}/status", {"status": status})


async def jobs(api: Api, count: int) -> list[str]:
    return await until(lambda: api.names(JOBS), lambda names: len(names) == count)


async def reasons(api: Api) -> set[str]:
    return {event["reason"] for event in (await api.get(EVENTS))["items"]}


async def test_job_is_made_when_its_time_has_come() -> None:
    async with controlled(cronjob.declare) as api:
        made = await make(api, timeZone="Asia/Tokyo")
        await asyncio.sleep(299)
        assert await api.names(JOBS) == []
        [name] = await jobs(api, 1)
        job = await api.get(f"{JOBS}/{name}")
        assert job["metadata"]["labels"]["x"] == "y"
        assert job["metadata"]["annotations"] == {
            "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T09:05:00+09:00"
        }
        [ref] = job["metadata"]["ownerReferences"]
        assert (ref["uid"], ref["controller"]) == (made["metadata"]["uid"], True)
        status = (await api.get(f"{CRONS}/a"))["status"]
        assert status["lastScheduleTime"] == "2026-01-01T00:05:00Z"
        assert [ref["name"] for ref in status["active"]] == [name]
        assert await reasons(api) == {"SuccessfulCreate"}


async def test_ended_jobs_are_noted_and_the_oldest_deleted() -> None:
    async with controlled(cronjob.declare) as api:
        await make(api, successfulJobsHistoryLimit=1)
        await asyncio.sleep(300)
        [first] = await jobs(api, 1)
        await end(api, first)
        status = await until(
            lambda: api.get(f"{CRONS}/a"), lambda found: not found["status"].get("active")
        )
        assert status["status"]["lastSuccessfulTime"]
        await asyncio.sleep(300)
        [second] = [name for name in await jobs(api, 2) if name != first]
        await end(api, second)
        assert await jobs(api, 1) == [second]
        assert {"SawCompletedJob", "SuccessfulDelete"} <= await reasons(api)


async def test_forbidden_concurrency_waits_for_the_job_before() -> None:
    async with controlled(cronjob.declare) as api:
        await make(api, concurrencyPolicy="Forbid")
        await asyncio.sleep(900)
        [first] = await jobs(api, 1)
        assert "JobAlreadyActive" in await reasons(api)
        await end(api, first)
        await jobs(api, 2)


async def test_replacement_deletes_the_job_before() -> None:
    async with controlled(cronjob.declare) as api:
        await make(api, concurrencyPolicy="Replace")
        await asyncio.sleep(301)
        [first] = await jobs(api, 1)
        await asyncio.sleep(301)
        [second] = await jobs(api, 1)
        assert second != first
        status = (await api.get(f"{CRONS}/a"))["status"]
        assert [ref["name"] for ref in status["active"]] == [second]


async def test_suspended_cron_job_makes_nothing_and_then_the_newest() -> None:
    async with controlled(cronjob.declare) as api:
        await make(api, suspend=True)
        await asyncio.sleep(1000)
        assert await api.names(JOBS) == []
        await api.merge(f"{CRONS}/a", {"spec": {"suspend": False}})
        await jobs(api, 1)
        assert (await api.get(f"{CRONS}/a"))["status"]["lastScheduleTime"] == "2026-01-01T00:15:00Z"


async def test_unreadable_schedules_are_told() -> None:
    async with controlled(cronjob.declare) as api:
        await make(api, "0 0 31 2 *")
        await until(lambda: reasons(api), lambda found: found == {"InvalidSchedule"})


async def test_job_is_made_once_although_the_controller_restarts() -> None:
    async with controlled(cronjob.declare) as api:
        await make(api)
        await asyncio.sleep(301)
        await api.merge(f"{CRONS}/a/status", {"status": {"lastScheduleTime": None, "active": None}})
    async with controlled(cronjob.declare, on=api.server):
        await asyncio.sleep(10)
        [name] = await jobs(api, 1)
        status = (await api.get(f"{CRONS}/a"))["status"]
        assert [ref["name"] for ref in status["active"]] == [name]


async def test_ended_job_is_tidied_away_in_time() -> None:
    async with controlled(ttl.declare, garbage.declare) as api:
        spec = {"template": TEMPLATE, "ttlSecondsAfterFinished": 60}
        await api.create(JOBS, {"metadata": {"name": "a"}, "spec": spec})
        await asyncio.sleep(1000)
        await end(api, "a", "Failed")
        await asyncio.sleep(59)
        await api.get(f"{JOBS}/a")
        await gone(api, f"{JOBS}/a")
