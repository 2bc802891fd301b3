"""An autoscaler at work: on simulated nodes, whose pods are measured to use what tests say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from quintant.cluster.component.component import Component
from quintant.cluster.controllers import deployment, podautoscaler, replicaset
from quintant.runtime.manager.manager import Manager
from unit.cluster.api import MERGE, PODS, Api, JsonObject, server
from unit.cluster.controllers.running_controllers import until
from unit.cluster.simulated.simulated_cluster import simulated

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
AUTOSCALERS = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
OLD_AUTOSCALERS = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
EVENTS = "/api/v1/namespaces/default/events"
CPU = "simulated.quintant.dev/cpu-usage"
SYNC, WINDOW = 15.0, 300.0
"""Seconds between two looks, and for which the highest proposal counts."""


@asynccontextmanager
async def scaled(*, metrics: bool = True) -> AsyncIterator[Api]:
    manager, served = Manager("kube-controller-manager"), server(rbac=True)
    for part in (deployment, replicaset, podautoscaler):
        part.declare(manager)
    if metrics:
        served.metrics.open()
    async with simulated(2, others=(Component(manager),), on=served) as api:
        await api.create(DEPLOYMENTS, web())
        yield api


def web(replicas: int = 2) -> JsonObject:
    container = {"name": "main", "image": "nginx", "resources": {"requests": {"cpu": "1"}}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    selector = {"matchLabels": {"app": "web"}}
    spec = {"replicas": replicas, "selector": selector, "template": template}
    return {"metadata": {"name": "web"}, "spec": spec}


def autoscaler(name: str = "web", target: str = "web", **spec: Any) -> JsonObject:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
    aim = {"type": "Utilization", "averageUtilization": 50}
    metric = {"type": "Resource", "resource": {"name": "cpu", "target": aim}}
    given = {"scaleTargetRef": reference, "maxReplicas": 6, "metrics": [metric], **spec}
    return {"metadata": {"name": name}, "spec": given}


async def load(api: Api, cpu: str) -> None:
    """Let every pod be measured to use so much."""
    for each in (await api.get(PODS))["items"]:
        change = {"metadata": {"annotations": {CPU: cpu}}}
        path = f"{PODS}/{each['metadata']['name']}"
        await api.ask("PATCH", path, change, 200, media=MERGE)


async def size(api: Api) -> int:
    found: int = (await api.get(f"{DEPLOYMENTS}/web"))["spec"]["replicas"]
    return found


async def status(api: Api, name: str = "web") -> JsonObject:
    found: JsonObject = (await api.get(f"{AUTOSCALERS}/{name}")).get("status", {})
    return found


async def reasons(api: Api, name: str = "web") -> dict[str, str]:
    conditions = (await status(api, name)).get("conditions", ())
    return {each["type"]: each["reason"] for each in conditions}


async def notes(api: Api, reason: str) -> list[str]:
    events = (await api.get(EVENTS))["items"]
    return [each["message"] for each in events if each["reason"] == reason]


async def test_load_makes_a_deployment_grow_and_idleness_shrinks_it_after_the_window() -> None:
    async with scaled() as api:
        await api.create(AUTOSCALERS, autoscaler(minReplicas=2))
        await until(lambda: reasons(api), lambda it: it.get("ScalingActive") == "ValidMetricFound")
        assert await size(api) == 2
        await load(api, "900m")
        await until(lambda: size(api), lambda it: it == 4)
        # Before the next look: the new pods share the load, and there is less of it.
        await until(lambda: api.get(PODS), lambda it: len(it["items"]) == 4)
        await load(api, "100m")
        events = await until(lambda: notes(api, "SuccessfulRescale"))
        words = "cpu resource utilization (percentage of request) above target"
        assert events == [f"New size: 4; reason: {words}"]
        await asyncio.sleep(2 * SYNC)
        assert (await reasons(api))["AbleToScale"] == "ScaleDownStabilized"
        await asyncio.sleep(WINDOW - 5 * SYNC)
        assert await size(api) == 4
        await asyncio.sleep(6 * SYNC)
        assert await size(api) == 2
        assert (await reasons(api))["ScalingLimited"] == "TooFewReplicas"
        (metric,) = (await status(api))["currentMetrics"]
        assert metric["resource"]["current"] == {"averageUtilization": 10, "averageValue": "100m"}


async def test_bounds_hold_without_metrics() -> None:
    async with scaled(metrics=False) as api:
        await api.create(AUTOSCALERS, autoscaler(minReplicas=3))
        await until(lambda: size(api), lambda it: it == 3)
        notes_of = await until(lambda: notes(api, "SuccessfulRescale"))
        assert notes_of == [
            "New size: 3; reason: Current number of replicas below Spec.MinReplicas"
        ]
        found = await until(lambda: reasons(api), lambda it: "ScalingActive" in it)
        assert found["ScalingActive"] == "FailedGetResourceMetric"
        (message,) = (
            each["message"]
            for each in (await status(api))["conditions"]
            if each["type"] == "ScalingActive"
        )
        assert message == (
            "the HPA was unable to compute the replica count: failed to get cpu utilization: "
            "unable to get metrics for resource cpu: unable to fetch metrics from resource metrics "
            "API: the server could not find the requested resource (get pods.metrics.k8s.io)"
        )


async def test_an_autoscaler_of_version_1_works_as_one_of_version_2() -> None:
    async with scaled() as api:
        reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
        spec = {"scaleTargetRef": reference, "maxReplicas": 3, "targetCPUUtilizationPercentage": 10}
        await api.create(OLD_AUTOSCALERS, {"metadata": {"name": "old"}, "spec": spec})
        await until(lambda: size(api), lambda it: it == 3)
        found = await until(
            lambda: api.get(f"{OLD_AUTOSCALERS}/old"),
            lambda it: it["status"].get("currentCPUUtilizationPercentage"),
        )
        assert found["status"]["desiredReplicas"] == 3


async def test_a_target_that_is_not_there_is_named() -> None:
    async with scaled() as api:
        await api.create(AUTOSCALERS, autoscaler(target="gone"))
        lost = autoscaler("lost")
        lost["spec"]["scaleTargetRef"]["kind"] = "Deploiment"
        await api.create(AUTOSCALERS, lost)
        found = await until(lambda: reasons(api), bool)
        assert found == {"AbleToScale": "FailedGetScale"}
        await until(lambda: reasons(api, "lost"), bool)
        told = await until(lambda: notes(api, "FailedGetScale"), lambda it: len(it) == 2)
        assert sorted(told) == [
            'deployments.apps "gone" not found',
            'no matches for kind "Deploiment" in group "apps"',
        ]


async def test_two_autoscalers_of_the_same_pods_scale_nothing() -> None:
    async with scaled() as api:
        await until(lambda: api.get(PODS), lambda it: len(it["items"]) == 2)
        await api.create(AUTOSCALERS, autoscaler("one"))
        await api.create(AUTOSCALERS, autoscaler("two"))
        await asyncio.sleep(3 * SYNC)
        for name in ("one", "two"):
            assert (await reasons(api, name))["ScalingActive"] == "AmbiguousSelector"


async def test_what_an_administrator_scales_to_zero_stays_there() -> None:
    async with scaled() as api:
        await api.create(AUTOSCALERS, autoscaler())
        path = f"{DEPLOYMENTS}/web"
        await api.ask("PATCH", path, {"spec": {"replicas": 0}}, 200, media=MERGE)
        await until(lambda: reasons(api), lambda it: it.get("ScalingActive") == "ScalingDisabled")
        assert await size(api) == 0
