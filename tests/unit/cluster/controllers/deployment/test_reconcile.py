"""Deployments on a server with the controllers of workloads and nothing else."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from quintant.api.apps import Deployment, DeploymentSpec, DeploymentStatus
from quintant.cluster.controllers import deployment, garbage, replicaset
from quintant.cluster.controllers.deployment.rollout import Rollout
from quintant.cluster.controllers.deployment.status import (
    DONE,
    PROGRESSING,
    check_after,
    new_condition,
)
from unit.cluster.api import Api, JsonObject
from unit.cluster.controllers.running_controllers import controlled, until
from unit.cluster.controllers.stub_kubelet import APPS, attended, pods, settled, workload

DEPLOYMENTS = f"{APPS}/deployments"
BOTH = (deployment.declare, replicaset.declare)


async def image(api: Api, image: str) -> None:
    template = workload(image=image)["spec"]["template"]
    await api.merge(f"{DEPLOYMENTS}/a", {"spec": {"template": template}})


async def sets(api: Api) -> list[JsonObject]:
    found: list[JsonObject] = (await api.get(f"{APPS}/replicasets"))["items"]
    return found


def conditions(it: JsonObject) -> dict[str, tuple[str, str]]:
    found = it["status"].get("conditions", [])
    return {each["type"]: (each["status"], each["reason"]) for each in found}


async def test_rollout_replaces_all_pods_and_keeps_the_old_set() -> None:
    async with controlled(*BOTH) as api, attended(api):
        await api.create(DEPLOYMENTS, workload(replicas=4))
        await settled(api, "deployments")
        await image(api, "two")
        found = await settled(api, "deployments")
        assert found["status"]["updatedReplicas"] == found["status"]["availableReplicas"] == 4
        assert conditions(found) == {
            "Available": ("True", "MinimumReplicasAvailable"),
            "Progressing": ("True", "NewReplicaSetAvailable"),
        }
        assert sorted(each["spec"]["replicas"] for each in await sets(api)) == [0, 4]
        assert {p["spec"]["containers"][0]["image"] for p in await pods(api)} == {"two"}


async def test_deployment_at_rest_writes_nothing() -> None:
    async with controlled(*BOTH) as api, attended(api):
        await api.create(DEPLOYMENTS, workload(replicas=2))
        before = await settled(api, "deployments")
        after = await settled(api, "deployments", seconds=1000)
        assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


async def test_lack_of_progress_is_told_once_the_deadline_is_over() -> None:
    async with controlled(*BOTH) as api, attended(api, lambda _: False):
        await api.create(DEPLOYMENTS, workload(replicas=2, progressDeadlineSeconds=100))
        found = await settled(api, "deployments", seconds=95)
        assert conditions(found)["Progressing"] == ("True", "ReplicaSetUpdated")
        found = await settled(api, "deployments", seconds=10)
        assert conditions(found)["Progressing"] == ("False", "ProgressDeadlineExceeded")


def test_a_rollout_that_is_over_is_not_looked_at_for_progress_again() -> None:
    """A pod that is down for longer than the deadline must not have it asked every second."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    done = new_condition(PROGRESSING, "True", DONE, "", now)
    status = DeploymentStatus(replicas=2, updated_replicas=2, conditions=(done,))
    spec = DeploymentSpec(replicas=2, progress_deadline_seconds=100)
    rollout = Rollout.of(Deployment(spec=spec, status=status), [])
    assert check_after(rollout, status, now + timedelta(seconds=1000)) is None


async def test_pause_does_not_count_as_a_lack_of_progress() -> None:
    async with controlled(*BOTH) as api, attended(api, lambda _: False):
        await api.create(DEPLOYMENTS, workload(replicas=2, progressDeadlineSeconds=100))
        await settled(api, "deployments", seconds=10)
        await api.merge(f"{DEPLOYMENTS}/a", {"spec": {"paused": True}})
        found = await settled(api, "deployments", seconds=500)
        assert conditions(found)["Progressing"] == ("Unknown", "DeploymentPaused")
        await api.merge(f"{DEPLOYMENTS}/a", {"spec": {"paused": False}})
        found = await settled(api, "deployments", seconds=95)
        assert conditions(found)["Progressing"] == ("Unknown", "DeploymentResumed")
        found = await settled(api, "deployments", seconds=10)
        assert conditions(found)["Progressing"] == ("False", "ProgressDeadlineExceeded")


async def test_deployment_without_a_deadline_says_nothing_of_progress() -> None:
    async with controlled(*BOTH) as api, attended(api):
        await api.create(DEPLOYMENTS, workload(progressDeadlineSeconds=2**31 - 1))
        assert set(conditions(await settled(api, "deployments"))) == {"Available"}


async def test_everything_goes_with_the_deployment() -> None:
    async with controlled(*BOTH, garbage.declare) as api, attended(api):
        await api.create(DEPLOYMENTS, workload(replicas=2))
        await settled(api, "deployments")
        await api.delete(f"{DEPLOYMENTS}/a", {"propagationPolicy": "Foreground"})
        await until(lambda: pods(api), lambda found: not found)
        await until(lambda: sets(api), lambda found: not found)


async def test_two_deployments_with_one_selector_do_not_fight() -> None:
    async with controlled(*BOTH) as api, attended(api):
        await api.create(DEPLOYMENTS, workload("a", replicas=2))
        await asyncio.sleep(10)
        other = workload("a", image="other", replicas=3)
        await api.create(DEPLOYMENTS, {**other, "metadata": {"name": "b"}})
        first = await settled(api, "deployments", "a")
        second = await settled(api, "deployments", "b")
        assert first["status"]["readyReplicas"] == 2
        assert second["status"]["readyReplicas"] == 3
        assert len(await sets(api)) == 2
