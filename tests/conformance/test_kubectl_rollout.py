"""kubectl rollout and scale on both servers, and templates that arrive whole."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conformance.controller_cluster import ControllerCluster
from conformance.kubectl import programs
from conformance.kubelet import UNREADY
from conformance.workloads import APPS, daemon_set, deployment, stateful_set
from unit.cluster.api import JsonObject

kubectl_there = pytest.mark.skipif(not programs(), reason="there is no kubectl")

WORKLOADS = {"deployment": deployment, "statefulset": stateful_set, "daemonset": daemon_set}
FULL: JsonObject = {
    "metadata": {
        "labels": {"app": "a", "tier": "back"},
        "annotations": {"note": "x\ny \"z\" ü"},
        "finalizers": ["example.com/hold"],
    },
    "spec": {
        "containers": [
            {
                "name": "main", "image": "one", "command": ["run", "$(A)"], "args": ["--x={{.y}}"],
                "workingDir": "/w",
                "ports": [{"containerPort": 80, "name": "web", "protocol": "UDP"}],
                "env": [
                    {"name": "A", "value": "1"},
                    {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                ],
                "envFrom": [{"prefix": "P_", "configMapRef": {"name": "c", "optional": True}}],
                "resources": {"limits": {"cpu": "1500m", "memory": "1Gi"}},
                "volumeMounts": [{"name": "v", "mountPath": "/v", "subPathExpr": "$(A)"}],
                "livenessProbe": {"grpc": {"port": 1, "service": "s"}, "periodSeconds": 7},
                "startupProbe": {"exec": {"command": ["true"]}},
                "lifecycle": {"preStop": {"sleep": {"seconds": 1}}},
                "securityContext": {"capabilities": {"drop": ["ALL"]}, "runAsUser": 5},
                "stdin": True, "tty": True, "terminationMessagePolicy": "FallbackToLogsOnError",
                "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
            }
        ],
        "initContainers": [{"name": "side", "image": "two", "restartPolicy": "Always"}],
        "volumes": [
            {"name": "v", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
            {"name": "p", "projected": {"sources": [{"downwardAPI": {"items": [
                {"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]}}]}},
        ],
        "hostAliases": [{"ip": "127.0.0.2", "hostnames": ["h"]}],
        "dnsConfig": {"options": [{"name": "ndots", "value": "2"}]},
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway",
             "labelSelector": {"matchLabels": {"app": "a"}}, "matchLabelKeys": ["tier"]}
        ],
        "tolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": 5,
                         "effect": "NoExecute"}],
        "readinessGates": [{"conditionType": "example.com/g"}],
        "shareProcessNamespace": True, "hostname": "host", "setHostnameAsFQDN": True,
        "terminationGracePeriodSeconds": 7, "os": {"name": "linux"},
    },
}  # fmt: skip


async def made(cluster: ControllerCluster, kind: str, **spec: object) -> None:
    obj = WORKLOADS[kind]("a", **({} if kind == "daemonset" else {"replicas": 2}) | spec)
    await cluster.create(cluster.path(f"{kind}s", api=APPS), obj)


@kubectl_there
@pytest.mark.parametrize("kind", WORKLOADS)
async def test_rollout_is_followed_undone_and_remembered(
    cluster: ControllerCluster, tmp_path: Path, kind: str
) -> None:
    kubectl, what = cluster.kubectl(tmp_path), f"{kind}/a"
    await made(cluster, kind)
    await kubectl("rollout", "status", what, "--timeout=30s")
    await kubectl("set", "image", what, "main=two")
    ended = await kubectl("rollout", "status", what, "--timeout=30s")
    assert DONE[kind] in ended
    history = await kubectl("rollout", "history", what)
    assert re.findall(r"^(\d+) ", history, re.MULTILINE) == ["1", "2"]
    assert re.search(r"Image:\s+one\b", await kubectl("rollout", "history", what, "--revision=1"))
    await kubectl("rollout", "undo", what)
    await kubectl("rollout", "status", what, "--timeout=30s")
    assert await image(cluster, kind) == "one"
    history = await kubectl("rollout", "history", what)
    assert re.findall(r"^(\d+) ", history, re.MULTILINE) == ["2", "3"]
    await kubectl("rollout", "undo", what, "--to-revision=2")
    await kubectl("rollout", "status", what, "--timeout=30s")
    assert await image(cluster, kind) == "two"


DONE = {
    "deployment": 'deployment "a" successfully rolled out',
    "statefulset": "roll out complete: 2 new pods have been updated",
    "daemonset": 'daemon set "a" successfully rolled out',
}


async def image(cluster: ControllerCluster, kind: str) -> str:
    found = await cluster.get(cluster.path(f"{kind}s", "a", APPS))
    text: str = found["spec"]["template"]["spec"]["containers"][0]["image"]
    return text


@kubectl_there
@pytest.mark.parametrize("kind", WORKLOADS)
async def test_restart_replaces_every_pod(
    cluster: ControllerCluster, tmp_path: Path, kind: str
) -> None:
    kubectl, what = cluster.kubectl(tmp_path), f"{kind}/a"
    await made(cluster, kind)
    await kubectl("rollout", "status", what, "--timeout=30s")
    before = {pod["metadata"]["uid"] for pod in await cluster.all("pods")}
    await kubectl("rollout", "restart", what)
    await kubectl("rollout", "status", what, "--timeout=30s")
    await cluster.until_all(
        "pods",
        lambda pods: pods and before.isdisjoint(pod["metadata"]["uid"] for pod in pods),
    )


@kubectl_there
async def test_deployment_is_paused_resumed_and_scaled(
    cluster: ControllerCluster, tmp_path: Path
) -> None:
    kubectl = cluster.kubectl(tmp_path)
    await made(cluster, "deployment")
    await kubectl("rollout", "status", "deployment/a", "--timeout=30s")
    assert await kubectl("rollout", "pause", "deployment/a") == "deployment.apps/a paused\n"
    await kubectl("set", "image", "deployment/a", "main=two")
    await cluster.quiet("replicasets", api=APPS)
    assert len(await cluster.all("replicasets", api=APPS)) == 1
    assert await kubectl("rollout", "resume", "deployment/a") == "deployment.apps/a resumed\n"
    await kubectl("rollout", "status", "deployment/a", "--timeout=30s")
    await kubectl("scale", "deployment/a", "--replicas=3")
    await kubectl(
        "wait", "--for=jsonpath={.status.readyReplicas}=3", "deployment/a", "--timeout=30s"
    )
    header, row = (await kubectl("get", "deployment")).splitlines()
    assert header.split() == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    assert row.split()[:4] == ["a", "3/3", "3", "3"]
    described = await kubectl("describe", "deployment/a")
    assert re.search(r"Progressing\s+True\s+NewReplicaSetAvailable", described)
    assert re.search(r"NewReplicaSet:\s+a-\w+ \(3/3 replicas created\)", described)
    assert "Normal  ScalingReplicaSet" in described


@kubectl_there
async def test_stuck_rollout_is_told(cluster: ControllerCluster, tmp_path: Path) -> None:
    cluster.kubelet.let(UNREADY)
    await made(cluster, "deployment", progressDeadlineSeconds=2)
    found = await cluster.kubectl(tmp_path).run(
        "rollout", "status", "deployment/a", "--timeout=30s"
    )
    assert found.code == 1
    assert found.err == 'error: deployment "a" exceeded its progress deadline\n'


@pytest.mark.parametrize("kind", WORKLOADS)
async def test_template_arrives_whole(cluster: ControllerCluster, kind: str) -> None:
    """Everything a template says, a pod says, too; of a set in between as well."""
    await made(cluster, kind, template=FULL)
    pods = await cluster.until_all("pods", lambda found: found)
    stored = await cluster.get(cluster.path(f"{kind}s", "a", APPS))
    template = stored["spec"]["template"]
    for pod in pods:
        assert pod["metadata"]["annotations"] == FULL["metadata"]["annotations"]
        assert pod["metadata"]["finalizers"] == FULL["metadata"]["finalizers"]
        assert FULL["metadata"]["labels"].items() <= pod["metadata"]["labels"].items()
        assert differing(template["spec"], pod["spec"]) <= OWN[kind]
    for each in pods:
        path = cluster.path("pods", each["metadata"]["name"])
        await cluster.merge(path, {"metadata": {"finalizers": None}})


OWN = {
    "deployment": set(),
    "statefulset": {"hostname", "subdomain"},
    "daemonset": {"affinity"},
}
ADMITTED = {
    *("serviceAccount", "serviceAccountName", "priority", "preemptionPolicy", "nodeName"),
    *("enableServiceLinks", "tolerations", "containers", "initContainers", "volumes"),
    "topologySpreadConstraints",
}
"""What the server, its admission and the scheduler add, or add to."""


def differing(template: JsonObject, spec: JsonObject) -> set[str]:
    """The fields of a pod that are not what its template says."""
    changed = {key for key in template.keys() | spec.keys() if template.get(key) != spec.get(key)}
    return changed - {key for key in changed & ADMITTED if covers(spec.get(key), template.get(key))}


def covers(more: object, less: object) -> bool:
    """Whether everything in `less` is in `more`."""
    match more, less:
        case _, None:
            return True
        case dict(), dict():
            return all(key in more and covers(more[key], less[key]) for key in less)
        case list(), list():
            return all(any(covers(one, other) for one in more) for other in less)
    return json.dumps(more) == json.dumps(less)
