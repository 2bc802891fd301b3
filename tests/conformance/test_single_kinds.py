"""What is stored for others to act on: autoscalers, quotas, ingresses, policies, templates."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.kinds import (
    AUTOSCALER,
    CONTROLLER,
    INGRESS,
    INGRESS_CLASS,
    LABELS,
    LIMIT_RANGE,
    NETWORK_POLICY,
    OLD_AUTOSCALER,
    POD_TEMPLATE,
    QUOTA,
    RUNTIME_CLASS,
    TEMPLATE,
    Sample,
)
from conformance.tables import cells, columns, table
from conformance.target import Target
from unit.cluster.api import JsonObject

REF = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 60}},
}
METRICS = [
    CPU,
    {
        "type": "Resource",
        "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}},
    },
    {
        "type": "Pods",
        "pods": {
            "metric": {"name": "rps", "selector": {"matchLabels": {"a": "b"}}},
            "target": {"type": "AverageValue", "averageValue": "1k"},
        },
    },
    {
        "type": "Object",
        "object": {
            "describedObject": {
                "kind": "Ingress",
                "apiVersion": "networking.k8s.io/v1",
                "name": "i",
            },
            "metric": {"name": "hits"},
            "target": {"type": "Value", "value": "10"},
        },
    },
    {
        "type": "External",
        "external": {
            "metric": {"name": "q"},
            "target": {"type": "AverageValue", "averageValue": "5"},
        },
    },
    {
        "type": "ContainerResource",
        "containerResource": {
            "name": "cpu",
            "container": "c",
            "target": {"type": "Utilization", "averageUtilization": 70},
        },
    },
]
OLD_METRICS = [
    {"type": "Resource", "resource": {"name": "memory", "targetAverageValue": "1Gi"}},
    {
        "type": "Pods",
        "pods": {
            "metricName": "rps",
            "targetAverageValue": "1k",
            "selector": {"matchLabels": {"a": "b"}},
        },
    },
    {
        "type": "Object",
        "object": {
            "target": {"kind": "Ingress", "name": "i", "apiVersion": "networking.k8s.io/v1"},
            "metricName": "hits",
            "targetValue": "10",
        },
    },
    {"type": "External", "external": {"metricName": "q", "targetAverageValue": "5"}},
    {
        "type": "ContainerResource",
        "containerResource": {"name": "cpu", "targetAverageUtilization": 70, "container": "c"},
    },
]
NOTE = "autoscaling.alpha.kubernetes.io/"


async def made(target: Target, sample: Sample, content: JsonObject, name: str = "") -> JsonObject:
    """An object as it was created."""
    obj = {**sample.object(name or f"a-{target.namespace}"), **content}
    return await target.create(sample.path(target), obj)


async def test_an_autoscaler_aims_at_something(target: Target) -> None:
    found = await made(target, AUTOSCALER, {"spec": {"scaleTargetRef": REF, "maxReplicas": 3}})
    assert found["spec"] == {
        "scaleTargetRef": REF,
        "minReplicas": 1,
        "maxReplicas": 3,
        "metrics": [
            {
                "type": "Resource",
                "resource": {
                    "name": "cpu",
                    "target": {"type": "Utilization", "averageUtilization": 80},
                },
            }
        ],
    }
    assert found["status"] == {"desiredReplicas": 0, "currentMetrics": None}
    assert "generation" not in found["metadata"]


async def test_both_versions_show_the_same_autoscaler(target: Target) -> None:
    spec = {"scaleTargetRef": REF, "maxReplicas": 3, "targetCPUUtilizationPercentage": 60}
    old = await made(target, OLD_AUTOSCALER, {"spec": spec}, "a")
    assert old["spec"] == {**spec, "minReplicas": 1}
    assert old["status"] == {"currentReplicas": 0, "desiredReplicas": 0}
    new = await target.get(AUTOSCALER.path(target, "a"))
    assert new["spec"]["metrics"] == [CPU]
    assert new["metadata"]["resourceVersion"] == old["metadata"]["resourceVersion"]
    await target.merge(AUTOSCALER.path(target, "a"), {"spec": {"maxReplicas": 9}})
    assert (await target.get(OLD_AUTOSCALER.path(target, "a")))["spec"]["maxReplicas"] == 9


async def test_annotations_carry_what_the_old_version_has_no_field_for(target: Target) -> None:
    behavior = {"scaleDown": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 10}]}}
    spec = {"scaleTargetRef": REF, "maxReplicas": 3, "metrics": METRICS, "behavior": behavior}
    new = await made(target, AUTOSCALER, {"spec": spec}, "a")
    old = await target.get(OLD_AUTOSCALER.path(target, "a"))
    assert old["spec"]["targetCPUUtilizationPercentage"] == 60
    notes = old["metadata"]["annotations"]
    assert json.loads(notes[f"{NOTE}metrics"]) == OLD_METRICS
    assert json.loads(notes[f"{NOTE}behavior"]) == {
        "ScaleUp": {
            "StabilizationWindowSeconds": 0,
            "SelectPolicy": "Max",
            "Policies": [
                {"Type": "Pods", "Value": 4, "PeriodSeconds": 15},
                {"Type": "Percent", "Value": 100, "PeriodSeconds": 15},
            ],
            "Tolerance": None,
        },
        "ScaleDown": {
            "StabilizationWindowSeconds": None,
            "SelectPolicy": "Max",
            "Policies": [{"Type": "Pods", "Value": 1, "PeriodSeconds": 10}],
            "Tolerance": None,
        },
    }
    old["spec"]["maxReplicas"] = 4
    await target.put(OLD_AUTOSCALER.path(target, "a"), old)
    again = await target.get(AUTOSCALER.path(target, "a"))
    metrics = [*METRICS[1:], CPU]
    assert again["spec"] == {**new["spec"], "maxReplicas": 4, "metrics": metrics}
    assert "annotations" not in again["metadata"]


async def test_the_status_of_an_autoscaler_is_converted_too(target: Target) -> None:
    await made(target, AUTOSCALER, {}, "a")
    moment = "2026-01-02T03:04:05Z"
    condition = {"type": "AbleToScale", "status": "True", "lastTransitionTime": moment}
    used = {"averageValue": "500m", "averageUtilization": 50}
    status = {
        "currentReplicas": 2,
        "desiredReplicas": 3,
        "conditions": [condition],
        "currentMetrics": [{"type": "Resource", "resource": {"name": "cpu", "current": used}}],
    }
    path = AUTOSCALER.path(target, "a", "status")
    assert (await target.merge(path, {"status": status}))["status"] == status
    old = await target.get(OLD_AUTOSCALER.path(target, "a"))
    assert old["status"] == {
        "currentReplicas": 2,
        "desiredReplicas": 3,
        "currentCPUUtilizationPercentage": 50,
    }
    notes = old["metadata"]["annotations"]
    assert json.loads(notes[f"{NOTE}conditions"]) == [condition]
    assert json.loads(notes[f"{NOTE}current-metrics"]) == [
        {
            "type": "Resource",
            "resource": {
                "name": "cpu",
                "currentAverageUtilization": 50,
                "currentAverageValue": "500m",
            },
        }
    ]
    shown = await table(target, AUTOSCALER.path(target, "a"))
    assert cells(shown)[1:6] == ["Deployment/a", "cpu: 50%/80%", "1", 3, 2]


async def test_targets_of_an_autoscaler_in_a_table(target: Target) -> None:
    spec = {"scaleTargetRef": REF, "maxReplicas": 3}
    for at in range(len(METRICS)):
        await made(target, AUTOSCALER, {"spec": {**spec, "metrics": [METRICS[at]]}}, f"m{at}")
    await made(target, AUTOSCALER, {"spec": {**spec, "metrics": METRICS}}, "n")
    found = await table(target, AUTOSCALER.path(target))
    assert columns(found) == [
        *("Name:string", "Reference:string", "Targets:string", "MinPods:string"),
        *("MaxPods:string", "Replicas:string", "Age:string"),
    ]
    assert [cells(found, row)[2] for row in range(7)] == [
        "cpu: <unknown>/60%",
        "memory: <unknown>/1Gi",
        "<unknown>/1k",
        "<unknown>/10",
        "<unknown>/5 (avg)",
        "cpu: <unknown>/70%",
        "cpu: <unknown>/60%, memory: <unknown>/1Gi + 4 more...",
    ]


async def test_a_replication_controller_takes_labels_from_its_template(target: Target) -> None:
    found = await made(target, CONTROLLER, {"spec": {"template": TEMPLATE}}, "a")
    assert found["metadata"]["labels"] == LABELS
    assert (found["spec"]["selector"], found["spec"]["replicas"]) == (LABELS, 1)
    assert found["status"] == {"replicas": 0}
    scale = await target.get(CONTROLLER.path(target, "a", "scale"))
    assert (scale["spec"], scale["status"]) == (
        {"replicas": 1},
        {"replicas": 0, "selector": "app=check"},
    )
    await target.merge(CONTROLLER.path(target, "a", "scale"), {"spec": {"replicas": 2}})
    assert cells(await table(target, CONTROLLER.path(target, "a"))) == [
        *("a", 2, 0, 0, "0s"),
        *("main", "image:1", "app=check"),
    ]


async def test_the_limits_of_containers_default_each_other(target: Target) -> None:
    limits = [
        {
            "type": "Container",
            "max": {"cpu": "2", "a/b": "3"},
            "min": {"cpu": "100m", "a/b": "3"},
            "default": {"memory": "1Gi"},
        },
        {"type": "PersistentVolumeClaim", "max": {"storage": "2048Mi"}},
    ]
    found = await made(target, LIMIT_RANGE, {"spec": {"limits": limits}})
    container, claim = found["spec"]["limits"]
    assert container["default"] == {"cpu": "2", "memory": "1Gi", "a/b": "3"}
    assert container["defaultRequest"] == {"cpu": "2", "memory": "1Gi", "a/b": "3"}
    assert claim == {"type": "PersistentVolumeClaim", "max": {"storage": "2Gi"}}


async def test_the_use_of_a_quota_in_a_table(target: Target) -> None:
    hard = {"pods": "10", "requests.cpu": "1000m", "limits.memory": "1024Mi", "limits.cpu": "4"}
    found = await made(target, QUOTA, {"spec": {"hard": hard}}, "a")
    assert found["spec"]["hard"] == {**hard, "requests.cpu": "1", "limits.memory": "1Gi"}
    assert "generation" not in found["metadata"]
    status = {"hard": found["spec"]["hard"], "used": {"pods": "3", "limits.cpu": "500m"}}
    await target.merge(QUOTA.path(target, "a", "status"), {"status": status})
    shown = await table(target, QUOTA.path(target, "a"))
    assert columns(shown) == ["Name:string", "Request:string", "Limit:string", "Age:string"]
    assert cells(shown) == [
        "a",
        "pods: 3/10, requests.cpu: 0/1",
        "limits.cpu: 500m/4, limits.memory: 0/1Gi",
        "0s",
    ]


@pytest.mark.parametrize(
    ("spec", "types"),
    [
        ({}, ["Ingress"]),
        ({"egress": [{}]}, ["Ingress", "Egress"]),
        ({"ingress": [{}], "policyTypes": ["Egress"]}, ["Egress"]),
    ],
)
async def test_what_a_network_policy_is_about(
    target: Target, spec: JsonObject, types: list[str]
) -> None:
    found = await made(target, NETWORK_POLICY, {"spec": spec})
    assert found["spec"]["policyTypes"] == types
    assert (found["spec"]["podSelector"], found["metadata"]["generation"]) == ({}, 1)


async def test_ports_of_a_network_policy_and_its_row(target: Target) -> None:
    ports = [{"port": 80}, {"port": 1, "endPort": 2, "protocol": "UDP"}]
    spec = {"podSelector": {"matchLabels": LABELS}, "ingress": [{"ports": ports}]}
    found = await made(target, NETWORK_POLICY, {"spec": spec}, "a")
    (rule,) = found["spec"]["ingress"]
    assert rule["ports"] == [{"port": 80, "protocol": "TCP"}, ports[1]]
    shown = await table(target, NETWORK_POLICY.path(target, "a"))
    assert columns(shown) == ["Name:string", "Pod-Selector:string", "Age:string"]
    assert cells(shown) == ["a", "app=check", "0s"]


async def test_an_ingress_in_a_table(target: Target) -> None:
    backend = {"service": {"name": "s", "port": {"number": 80}}}
    http = {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}
    hosts = [{"host": f"{name}.example.com", "http": http} for name in "abcde"]
    tls = [{"hosts": ["a.example.com"], "secretName": "s"}]
    spec = {"ingressClassName": "c", "tls": tls, "rules": hosts}
    found = await made(target, INGRESS, {"spec": spec}, "a")
    assert (found["spec"], found["status"]) == (spec, {"loadBalancer": {}})
    await made(target, INGRESS, {}, "b")
    balancers = [{"ip": "10.0.0.2"}, {"hostname": "balancer.example.com"}]
    status = {"loadBalancer": {"ingress": balancers}}
    await target.merge(INGRESS.path(target, "a", "status"), {"status": status})
    shown = await table(target, INGRESS.path(target))
    assert columns(shown) == [
        *("Name:string", "Class:string", "Hosts:string"),
        *("Address:string", "Ports:string", "Age:string"),
    ]
    assert [cells(shown, row) for row in range(2)] == [
        [
            "a",
            "c",
            "a.example.com,b.example.com,c.example.com + 2 more...",
            "10.0.0.2,balancer.example.com",
            "80, 443",
            "0s",
        ],
        ["b", "<none>", "*", "", "80", "0s"],
    ]


async def test_classes_of_ingresses_and_runtimes(target: Target) -> None:
    parameters = {"apiGroup": "example.com", "kind": "K", "name": "n"}
    spec = {"controller": "example.com/c", "parameters": parameters}
    found = await made(target, INGRESS_CLASS, {"spec": spec})
    assert found["spec"]["parameters"] == {**parameters, "scope": "Cluster"}
    shown = await table(target, INGRESS_CLASS.path(target, found["metadata"]["name"]))
    assert columns(shown) == [
        *("Name:string", "Controller:string", "Parameters:string", "Age:string"),
    ]
    assert cells(shown)[1:3] == ["example.com/c", "K.example.com/n"]
    runtime = await made(target, RUNTIME_CLASS, {"handler": "runc"})
    shown = await table(target, RUNTIME_CLASS.path(target, runtime["metadata"]["name"]))
    assert columns(shown) == ["Name:string", "Handler:string", "Age:string"]
    assert cells(shown)[1] == "runc"


async def test_a_template_of_pods(target: Target) -> None:
    found = await made(target, POD_TEMPLATE, {}, "a")
    assert found["metadata"]["generation"] == 1
    assert found["template"]["spec"]["restartPolicy"] == "Always"
    changed: Any = {"template": {"metadata": {"labels": {"app": "other"}}}}
    again = await target.merge(POD_TEMPLATE.path(target, "a"), changed)
    assert again["metadata"]["generation"] == 2
    shown = await table(target, POD_TEMPLATE.path(target, "a"))
    assert columns(shown) == [
        *("Name:string", "Containers:string", "Images:string", "Pod Labels:string"),
    ]
    assert cells(shown) == ["a", "main", "image:1", "app=other"]
