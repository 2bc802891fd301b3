"""CronJobs on both servers: jobs made on time, one after another or not, and kept in number."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from conformance.controller_cluster import ControllerCluster
from conformance.kubelet import ENDED
from conformance.workloads import told
from unit.cluster.api import JsonObject

BATCH = "batch/v1"
SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"


async def make(cluster: ControllerCluster, schedule: str, **spec: Any) -> JsonObject:
    container = {"name": "main", "image": "main"}
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    job = {"metadata": {"labels": {"x": "y"}}, "spec": {"template": template}}
    body = {"metadata": {"name": "a"}, "spec": {"schedule": schedule, "jobTemplate": job, **spec}}
    return await cluster.create(cluster.path("cronjobs", api=BATCH), body)


async def jobs(cluster: ControllerCluster, count: int) -> list[JsonObject]:
    return await cluster.until_all("jobs", lambda found: len(found) == count, api=BATCH)


async def test_a_job_is_made_for_every_time(cluster: ControllerCluster) -> None:
    made = await make(cluster, "@every 2s")
    (job, *_) = await cluster.until_all("jobs", lambda found: len(found) >= 1, api=BATCH)
    meta = job["metadata"]
    moment = datetime.fromisoformat(meta["annotations"][SCHEDULED])
    assert meta["name"] == f"a-{int(moment.timestamp()) // 60}"
    assert meta["labels"]["x"] == "y"
    assert [(ref["uid"], ref["controller"]) for ref in meta["ownerReferences"]] == [
        (made["metadata"]["uid"], True)
    ]
    cron = await cluster.until(
        "cronjobs", "a", lambda it: it["status"].get("lastScheduleTime"), api=BATCH
    )
    (active, *_) = cron["status"]["active"]
    assert (active["kind"], active["apiVersion"], active["uid"]) == ("Job", BATCH, meta["uid"])
    assert f"Created job {meta['name']}" in await told(cluster, "a", "SuccessfulCreate", 1)
    cluster.kubelet.let(ENDED)
    cron = await cluster.until(
        "cronjobs", "a", lambda it: it["status"].get("lastSuccessfulTime"), api=BATCH
    )


async def test_a_suspended_one_makes_nothing(cluster: ControllerCluster) -> None:
    await make(cluster, "@every 1s", suspend=True)
    assert await cluster.quiet("jobs", api=BATCH) == []
    path = cluster.path("cronjobs", "a", BATCH)
    await cluster.merge(path, {"spec": {"suspend": False}})
    await jobs(cluster, 1)


async def test_days_that_never_come_are_told(cluster: ControllerCluster) -> None:
    await make(cluster, "0 0 31 2 *")
    await cluster.until_all(
        "events", lambda found: "InvalidSchedule" in [event["reason"] for event in found]
    )


async def test_what_is_too_late_is_not_made_up_for(cluster: ControllerCluster) -> None:
    far = datetime.now(UTC) + timedelta(hours=12)
    await make(cluster, f"{far.minute} {far.hour} * * *", startingDeadlineSeconds=30)
    assert await cluster.quiet("jobs", api=BATCH) == []
