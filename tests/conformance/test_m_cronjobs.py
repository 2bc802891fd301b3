"""CronJobs on both servers: jobs made on time, one after another or not, and kept in number."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from conformance.kubelet import ENDED
from conformance.workloads import told
from conformance.workshop import Workshop
from unit.cluster.api import Plain

BATCH = "batch/v1"
SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"


async def make(workshop: Workshop, schedule: str, **spec: Any) -> Plain:
    container = {"name": "main", "image": "main"}
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    job = {"metadata": {"labels": {"x": "y"}}, "spec": {"template": template}}
    body = {"metadata": {"name": "a"}, "spec": {"schedule": schedule, "jobTemplate": job, **spec}}
    return await workshop.create(workshop.path("cronjobs", api=BATCH), body)


async def jobs(workshop: Workshop, count: int) -> list[Plain]:
    return await workshop.until_all("jobs", lambda found: len(found) == count, api=BATCH)


async def test_147_a_job_is_made_for_every_time(workshop: Workshop) -> None:
    made = await make(workshop, "@every 2s")
    (job, *_) = await workshop.until_all("jobs", lambda found: len(found) >= 1, api=BATCH)
    meta = job["metadata"]
    moment = datetime.fromisoformat(meta["annotations"][SCHEDULED])
    assert meta["name"] == f"a-{int(moment.timestamp()) // 60}"
    assert meta["labels"]["x"] == "y"
    assert [(ref["uid"], ref["controller"]) for ref in meta["ownerReferences"]] == [
        (made["metadata"]["uid"], True)
    ]
    cron = await workshop.until(
        "cronjobs", "a", lambda it: it["status"].get("lastScheduleTime"), api=BATCH
    )
    (active, *_) = cron["status"]["active"]
    assert (active["kind"], active["apiVersion"], active["uid"]) == ("Job", BATCH, meta["uid"])
    assert f"Created job {meta['name']}" in await told(workshop, "a", "SuccessfulCreate", 1)
    workshop.kubelet.let(ENDED)
    cron = await workshop.until(
        "cronjobs", "a", lambda it: it["status"].get("lastSuccessfulTime"), api=BATCH
    )


async def test_147_a_suspended_one_makes_nothing(workshop: Workshop) -> None:
    await make(workshop, "@every 1s", suspend=True)
    assert await workshop.quiet("jobs", api=BATCH) == []
    path = workshop.path("cronjobs", "a", BATCH)
    await workshop.merge(path, {"spec": {"suspend": False}})
    await jobs(workshop, 1)


async def test_147_days_that_never_come_are_told(workshop: Workshop) -> None:
    await make(workshop, "0 0 31 2 *")
    await workshop.until_all(
        "events", lambda found: "InvalidSchedule" in [event["reason"] for event in found]
    )


async def test_147_what_is_too_late_is_not_made_up_for(workshop: Workshop) -> None:
    far = datetime.now(UTC) + timedelta(hours=12)
    await make(workshop, f"{far.minute} {far.hour} * * *", startingDeadlineSeconds=30)
    assert await workshop.quiet("jobs", api=BATCH) == []
