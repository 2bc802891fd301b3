"""Autoscalers say the same of the same targets, in a cluster that measures nothing.

Neither cluster of these checks serves metrics of pods, so what is compared is what follows from
sizes alone, and what is said of metrics that cannot be had. A real controller begins after a
quarter of a minute, so that many autoscalers are tried at once.
"""

from __future__ import annotations

from typing import Any

from conformance.controller_cluster import ControllerCluster
from unit.cluster.api import JsonObject

APPS, AUTOSCALING = "apps/v1", "autoscaling/v2"
AUTOSCALERS = "horizontalpodautoscalers"
CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
}
PODS = {
    "type": "Pods",
    "pods": {
        "metric": {"name": "packets"},
        "target": {"type": "AverageValue", "averageValue": "10"},
    },
}
OBJECT = {
    "type": "Object",
    "object": {
        "metric": {"name": "hits"},
        "describedObject": {"apiVersion": "v1", "kind": "Service", "name": "front"},
        "target": {"type": "Value", "value": "10"},
    },
}
EXTERNAL = {
    "type": "External",
    "external": {
        "metric": {"name": "queue", "selector": {"matchLabels": {"a": "1"}}},
        "target": {"type": "AverageValue", "averageValue": "10"},
    },
}


METRICS = {
    "cpu": (
        CPU,
        "FailedGetResourceMetric",
        "failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch "
        "metrics from resource metrics API: the server could not find the requested resource (get "
        "pods.metrics.k8s.io)",
    ),
    "pods": (
        PODS,
        "FailedGetPodsMetric",
        "unable to get metric packets: unable to fetch metrics from custom metrics API: no custom "
        "metrics API (custom.metrics.k8s.io) registered",
    ),
    "object": (
        OBJECT,
        "FailedGetObjectMetric",
        "unable to get metric hits: Service on NAMESPACE front/unable to fetch metrics from custom "
        "metrics API: no custom metrics API (custom.metrics.k8s.io) registered",
    ),
    "external": (
        EXTERNAL,
        "FailedGetExternalMetric",
        "unable to get external metric NAMESPACE/queue/&LabelSelector{MatchLabels:map[string]string"
        "{a: 1,},MatchExpressions:[]LabelSelectorRequirement{},}: unable to fetch metrics from "
        "external metrics API: the server could not find the requested resource (get "
        "queue.external.metrics.k8s.io)",
    ),
}
"""Metrics by name, the reason why they cannot be had, and its words."""
BOUNDS = {
    "many": (5, 3, "Current number of replicas above Spec.MaxReplicas"),
    "few": (1, 2, "Current number of replicas below Spec.MinReplicas"),
}
"""Targets by name, their size before and after, and why."""
LOST = {
    "Deployment": 'deployments.apps "lost" not found',
    "Deploiment": 'no matches for kind "Deploiment" in group "apps"',
}
"""Kinds of targets that are not there, and what is said of them."""


async def begin(
    cluster: ControllerCluster, name: str, replicas: int, metric: JsonObject = CPU
) -> None:
    """A Deployment and its autoscaler."""
    labels = {"app": name}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "main", "image": "image"}]},
    }
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    deployment = {"metadata": {"name": name}, "spec": spec}
    await cluster.create(cluster.path("deployments", api=APPS), deployment)
    await autoscale(cluster, name, {"apiVersion": APPS, "kind": "Deployment", "name": name}, metric)


async def autoscale(
    cluster: ControllerCluster, name: str, target: JsonObject, metric: JsonObject = CPU
) -> None:
    spec = {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 3, "metrics": [metric]}
    made = {"metadata": {"name": name}, "spec": spec}
    await cluster.create(cluster.path(AUTOSCALERS, api=AUTOSCALING), made)


async def said(
    cluster: ControllerCluster, name: str, type: str, reason: str
) -> tuple[JsonObject, dict[str, Any]]:
    """The status of an autoscaler, and its messages, once a condition has a reason."""

    def conditions(it: JsonObject) -> dict[str, JsonObject]:
        return {each["type"]: each for each in (it.get("status") or {}).get("conditions") or ()}

    found = await cluster.until(
        AUTOSCALERS,
        name,
        lambda it: conditions(it).get(type, {}).get("reason") == reason,
        api=AUTOSCALING,
    )
    messages = {each: condition["message"] for each, condition in conditions(found).items()}
    return found["status"], messages


async def test_sizes_and_targets_are_looked_at_before_metrics(cluster: ControllerCluster) -> None:
    for name, (replicas, _, _) in BOUNDS.items():
        await begin(cluster, name, replicas)
    await begin(cluster, "none", 0)
    for kind in LOST:
        target = {"apiVersion": APPS, "kind": kind, "name": "lost"}
        await autoscale(cluster, kind.lower(), target)
    for name, (replicas, size, why) in BOUNDS.items():
        status, messages = await said(cluster, name, "AbleToScale", "SucceededRescale")
        assert (status["currentReplicas"], status["desiredReplicas"]) == (replicas, size)
        assert "lastScaleTime" in status
        words = f"the HPA controller was able to update the target scale to {size}"
        assert messages["AbleToScale"] == words
        told = await cluster.told(name, "SuccessfulRescale")
        assert (told["type"], told["message"]) == ("Normal", f"New size: {size}; reason: {why}")
        deployment = await cluster.get(cluster.path("deployments", name, APPS))
        assert deployment["spec"]["replicas"] == size
    status, messages = await said(cluster, "none", "ScalingActive", "ScalingDisabled")
    assert status["desiredReplicas"] == 0
    words = "scaling is disabled since the replica count of the target is zero"
    assert messages["ScalingActive"] == words
    for kind, why in LOST.items():
        _, messages = await said(cluster, kind.lower(), "AbleToScale", "FailedGetScale")
        words = f"the HPA controller was unable to get the target's current scale: {why}"
        assert messages["AbleToScale"] == words
        assert (await cluster.told(kind.lower(), "FailedGetScale"))["message"] == why


async def test_metrics_that_cannot_be_had_are_named(cluster: ControllerCluster) -> None:
    for name, (metric, _, _) in METRICS.items():
        await begin(cluster, name, 2, metric)
    for name, (_, reason, given) in METRICS.items():
        words = given.replace("NAMESPACE", cluster.namespace)
        status, messages = await said(cluster, name, "ScalingActive", reason)
        active = f"the HPA was unable to compute the replica count: {words}"
        assert messages["ScalingActive"] == active
        able = "the HPA controller was able to get the target's current scale"
        assert messages["AbleToScale"] == able
        assert (status["currentReplicas"], status["desiredReplicas"]) == (2, 0)
        assert [each["type"] for each in status["currentMetrics"]] == [""]
        assert (await cluster.told(name, reason))["message"] == words
        failed = (await cluster.told(name, "FailedComputeMetricsReplicas"))["message"]
        assert failed.startswith("invalid metrics (1 invalid out of 1), first error is: failed")
        assert failed.endswith(words)
