"""A system of the demo comes up step by step, or says why it does not."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from quintant import Context, Manager, ObjectMeta
from quintant.api.apps import Deployment
from quintant.api.core import ConfigMap, Namespace, Node, Pod
from quintant.client.rest import MERGE
from quintant.cluster.common.labels import POD
from quintant.demo.convergence import Convergence, Progress, StartupStage
from quintant.demo.systems import System
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.manifests import DeploymentOptions
from quintant.runtime.manager.sample import Sample, SampleProgress
from quintant.testing import InProcessCluster

SAMPLE = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "given"}}
WITHIN = 30.0


async def _nothing(obj: ConfigMap, ctx: Context[ConfigMap]) -> None:
    """A reconciler that finds everything in order."""


async def _look(client: Client) -> SampleProgress:
    found = await client.find(ConfigMap, "given", "keeper-demo", live=True)
    return SampleProgress(found is not None, "given" if found else "nothing yet")


def _system(sample: Sample | None = None) -> System:
    manager = Manager("keeper-operator")
    manager.controls(ConfigMap).reconcile(_nothing)
    return System(
        "keeper",
        "keeps things",
        manager,
        "keeper-system",
        DeploymentOptions("quintant:1", ("operator", "keeper")),
        sample or Sample("keeper-demo", (SAMPLE,), _look, ("kubectl get nothing",)),
    )


async def _available(cluster: InProcessCluster) -> None:
    """What the workload controllers do once the operator's pod is ready."""
    found = await cluster.eventually(Deployment, "keeper-operator", "keeper-system")
    counts = dict.fromkeys(("replicas", "readyReplicas", "availableReplicas"), 1)
    status = {"observedGeneration": found.metadata.generation, **counts}
    await _patch(
        cluster, "/apis/apps/v1/namespaces/keeper-system/deployments/keeper-operator", status
    )


async def _patch(cluster: InProcessCluster, path: str, status: dict[str, Any]) -> None:
    await cluster.client.raw(
        "PATCH",
        f"{path}/status",
        body=msgspec.json.encode({"status": status}),
        headers={"content-type": MERGE},
    )


async def test_system_is_installed_started_and_shown(cluster: InProcessCluster) -> None:
    told: list[Progress] = []
    course = Convergence.of(_system(), cluster.client, told.append)
    end, _ = await asyncio.gather(course.run(WITHIN), _available(cluster))
    assert end.stage is StartupStage.RUNNING
    assert end.message == "given"
    stages = list(dict.fromkeys(progress.stage for progress in told))
    assert stages == [
        StartupStage.INSTALLING,
        StartupStage.STARTING,
        StartupStage.CONVERGING,
        StartupStage.RUNNING,
    ]


async def test_sample_may_span_namespaces_and_bring_nodes(cluster: InProcessCluster) -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "paris", "labels": {"city": "paris"}},
        "status": {"capacity": {"cpu": "2", "memory": "4Gi", "pods": "10"}},
    }
    there = {**SAMPLE, "metadata": {"name": "there", "namespace": "keeper-edge"}}
    wide = Sample("keeper-demo", (node, SAMPLE, there), _look, (), also=("keeper-edge",))
    course = Convergence.of(_system(wide), cluster.client, lambda _: None)
    end, _ = await asyncio.gather(course.run(WITHIN), _available(cluster))
    assert end.stage is StartupStage.RUNNING
    assert await cluster.get(ConfigMap, "there", "keeper-edge")
    found = await cluster.get(Node, "paris")
    assert found.status.capacity["pods"] == "10"


async def test_simulated_pod_in_any_namespace_of_a_sample_is_seen(
    cluster: InProcessCluster,
) -> None:
    wide = Sample("keeper-demo", (SAMPLE,), _look, (), also=("keeper-edge",))
    course = Convergence.of(_system(wide), cluster.client, lambda _: None)
    await cluster.create(Namespace(metadata=ObjectMeta(name="keeper-edge")))
    await _pod(cluster, "keeper-edge", {POD: "true"})
    end, _ = await asyncio.gather(course.run(WITHIN), _available(cluster))
    assert end.stage is StartupStage.FAILED
    assert "pod keeper-edge/p is only simulated" in end.reasons


async def test_system_that_does_not_start_in_time_fails_with_what_its_pods_say(
    cluster: InProcessCluster,
) -> None:
    course = Convergence.of(_system(), cluster.client, lambda _: None)
    end, _ = await asyncio.gather(course.run(WITHIN), _crashing(cluster, "keeper-system"))
    assert end.stage is StartupStage.FAILED
    assert end.message == "not there after 30 s"
    assert (
        "pod keeper-system/p, container c: CrashLoopBackOff back-off; it ended with 3 (Error)"
        in end.reasons
    )


async def test_simulated_pod_does_not_count_for_a_sample(cluster: InProcessCluster) -> None:
    course = Convergence.of(_system(), cluster.client, lambda _: None)

    async def pretend() -> None:
        await _available(cluster)
        await cluster.eventually(ConfigMap, "given", "keeper-demo")

    await cluster.create(Namespace(metadata=ObjectMeta(name="keeper-demo")))
    await _pod(cluster, "keeper-demo", {POD: "true"})
    end, _ = await asyncio.gather(course.run(WITHIN), pretend())
    assert end.stage is StartupStage.FAILED
    assert "pod keeper-demo/p is only simulated" in end.reasons


async def test_refusal_of_the_server_is_told(cluster: InProcessCluster) -> None:
    gadget = {"apiVersion": "v1", "kind": "Gadget", "metadata": {"name": "x"}}
    broken = Sample("keeper-demo", (gadget,), _look, ())
    course = Convergence.of(_system(broken), cluster.client, lambda _: None)
    end, _ = await asyncio.gather(course.run(WITHIN), _available(cluster))
    assert (end.stage, end.message) == (StartupStage.FAILED, "cannot apply Gadget")


async def _crashing(cluster: InProcessCluster, namespace: str) -> None:
    await cluster.eventually(Deployment, "keeper-operator", namespace)
    await _pod(cluster, namespace, {})
    state = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}
    ended = {"terminated": {"exitCode": 3, "reason": "Error"}}
    status = {"name": "c", "state": state, "lastState": ended, "restartCount": 1}
    await _patch(cluster, f"/api/v1/namespaces/{namespace}/pods/p", {"containerStatuses": [status]})


async def _pod(cluster: InProcessCluster, namespace: str, annotations: dict[str, str]) -> None:
    body = {
        "metadata": {"name": "p", "annotations": annotations},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    path = f"/api/v1/namespaces/{namespace}/pods"
    await cluster.client.raw("POST", path, body=msgspec.json.encode(body))
    assert await cluster.get(Pod, "p", namespace)
