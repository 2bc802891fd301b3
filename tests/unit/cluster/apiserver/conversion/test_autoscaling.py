from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.conversion.autoscaling import CPU_PERCENT, cpu_metric, to_v1, to_v2
from unit.cluster.api import JsonObject, api

HPAS = "/apis/autoscaling/{}/namespaces/default/horizontalpodautoscalers"
OLD, NEW = HPAS.format("v1"), HPAS.format("v2")
REF = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
NOTE = "autoscaling.alpha.kubernetes.io/"

NAMES = st.sampled_from(["rps", "hits", "memory"])
AMOUNTS = st.sampled_from(["1", "500m", "2Gi"])
PERCENTS = st.integers(1, 100)
SELECTORS = st.none() | st.just({"matchLabels": {"a": "b"}})


def metric(name: str, selector: JsonObject | None) -> JsonObject:
    return {"name": name, **({"selector": selector} if selector else {})}


def target(kind: str, field: str, value: Any) -> JsonObject:
    return {"type": kind, field: value}


AVERAGES = AMOUNTS.map(lambda amount: target("AverageValue", "averageValue", amount))
VALUES = AMOUNTS.map(lambda amount: target("Value", "value", amount))
USES = PERCENTS.map(lambda percent: target("Utilization", "averageUtilization", percent))
TOLD = st.builds(metric, NAMES, SELECTORS)
OBJECT = st.just({"kind": "Ingress", "name": "i", "apiVersion": "networking.k8s.io/v1"})
METRICS = st.one_of(
    st.builds(
        lambda aim: {"type": "Resource", "resource": {"name": "memory", "target": aim}},
        AVERAGES | USES,
    ),
    st.builds(
        lambda told, aim: {"type": "Pods", "pods": {"metric": told, "target": aim}}, TOLD, AVERAGES
    ),
    st.builds(
        lambda where, told, aim: {
            "type": "Object",
            "object": {"describedObject": where, "metric": told, "target": aim},
        },
        OBJECT,
        TOLD,
        AVERAGES | VALUES,
    ),
    st.builds(
        lambda told, aim: {"type": "External", "external": {"metric": told, "target": aim}},
        TOLD,
        AVERAGES | VALUES,
    ),
    st.builds(
        lambda aim: {
            "type": "ContainerResource",
            "containerResource": {"name": "cpu", "container": "c", "target": aim},
        },
        AVERAGES | USES,
    ),
)


@given(st.lists(METRICS, max_size=4), PERCENTS)
def test_both_versions_hold_the_same(metrics: list[JsonObject], percent: int) -> None:
    spec = {"scaleTargetRef": REF, "maxReplicas": 3, "metrics": [*metrics, cpu_metric(percent)]}
    status = {"desiredReplicas": 1, "currentReplicas": 2, "currentMetrics": None}
    stored = {
        "metadata": {"name": "a", "annotations": {"own": "1"}},
        "spec": spec,
        "status": status,
    }
    old = to_v1(stored)
    assert old["spec"]["targetCPUUtilizationPercentage"] == percent
    assert to_v2(old) == stored


def test_what_an_annotation_does_not_say_is_not_there() -> None:
    metadata = {"name": "a", "annotations": {f"{NOTE}metrics": "no JSON"}}
    found = to_v2({"metadata": metadata, "spec": {"maxReplicas": 1}})
    assert found["spec"]["metrics"] == [cpu_metric(CPU_PERCENT)]
    assert found["metadata"] == {"name": "a"}


async def test_an_autoscaler_is_one_object_in_two_versions() -> None:
    client = api()
    spec = {"scaleTargetRef": REF, "maxReplicas": 3}
    await client.create(OLD, {"metadata": {"name": "a"}, "spec": spec})
    new = await client.get(f"{NEW}/a")
    assert (new["apiVersion"], new["spec"]["metrics"]) == ("autoscaling/v2", [cpu_metric(80)])
    behavior = {"scaleUp": {"selectPolicy": "Disabled"}}
    await client.merge(f"{NEW}/a", {"spec": {"behavior": behavior, "minReplicas": 2}})
    old = await client.get(f"{OLD}/a")
    assert old["spec"]["minReplicas"] == 2
    note = json.loads(old["metadata"]["annotations"][f"{NOTE}behavior"])
    assert note["ScaleUp"]["SelectPolicy"] == "Disabled"
    assert await client.names(OLD) == await client.names(NEW) == ["a"]
    await client.delete(f"{OLD}/a")
    assert await client.names(NEW) == []
