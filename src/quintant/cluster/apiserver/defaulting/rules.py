"""SetDefaults_PodSpec, SetDefaults_Service: defaults of Pods and others that depend on the rest.

Each rule changes one message in place, after its constants
(quintant.cluster.apiserver.defaulting.constants) and before what is below it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any

from quintant.cluster.apiserver.conversion.autoscaling import CPU_PERCENT, METRICS, cpu_metric
from quintant.cluster.apiserver.defaulting.constants import AFFINITY_SECONDS
from quintant.cluster.apiserver.meta.types import JsonObject

UNLIMITED = 2**31 - 1
"""The backoff limit of a job that counts failures by index instead."""
MATCHING_PRECEDENCE = 1000
"""Of a schema of flow control that says none: after those of the system."""
QUEUING = {"handSize": 8, "queues": 64, "queueLengthLimit": 50}
EXACT_COUNT = "ExactCount"
"""How devices are counted unless a request says otherwise: one."""
_SHARE = "25%"
_LATEST = "latest"
_EXTERNAL = ("NodePort", "LoadBalancer")
# How fast an autoscaler may go: in a quarter of a minute to twice as many, or four more.
_ALL_PODS = {"type": "Percent", "value": 100, "periodSeconds": 15}
_FOUR_PODS = {"type": "Pods", "value": 4, "periodSeconds": 15}


def _container(container: JsonObject) -> None:
    container.setdefault("imagePullPolicy", _pull_policy(container.get("image", "")))


def _image_volume(source: JsonObject) -> None:
    source.setdefault("pullPolicy", _pull_policy(source.get("reference", "")))


def _pull_policy(image: str) -> str:
    if not image:
        return "IfNotPresent"  # it will be refused, and nothing else should be
    name, at, _ = image.partition("@")
    _, colon, tag = name.rpartition("/")[2].partition(":")
    return "Always" if (tag if colon else "" if at else _LATEST) == _LATEST else "IfNotPresent"


def _pod(pod: JsonObject) -> None:
    spec = pod["spec"]
    spec.setdefault("enableServiceLinks", True)
    for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
        resources = container["resources"]
        requests = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
        if requests:
            resources["requests"] = requests


def _pod_status(status: JsonObject) -> None:
    """The first of a pod's addresses is told by itself, too; that one wins."""
    first, listed = status.get("podIP"), status.get("podIPs") or []
    if listed and not first:
        status["podIP"] = listed[0].get("ip", "")
    elif first and (not listed or listed[0].get("ip") != first):
        status["podIPs"] = [{"ip": first}]


def _pod_spec(spec: JsonObject) -> None:
    _same(spec, "serviceAccountName", "serviceAccount")
    if not spec.get("hostNetwork"):
        return
    for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
        for port in container.get("ports") or ():
            port.setdefault("hostPort", port.get("containerPort", 0))


def _same(obj: JsonObject, name: str, old: str) -> None:
    """Show a field by its new and its old name; the new one wins."""
    value = obj.get(name) or obj.get(old)
    if value:
        obj[name] = obj[old] = value


def _volume(volume: JsonObject) -> None:
    if volume.keys() <= {"name"}:
        volume["emptyDir"] = {}


def _service_spec(spec: JsonObject) -> None:
    external = spec["type"] in _EXTERNAL
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    if spec["sessionAffinity"] == "ClientIP":
        config = spec.setdefault("sessionAffinityConfig", {})
        config.setdefault("clientIP", {}).setdefault("timeoutSeconds", AFFINITY_SECONDS)
    if external or (spec["type"] == "ClusterIP" and spec.get("externalIPs")):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if external or spec["type"] == "ClusterIP":
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)


def _ingress(point: JsonObject) -> None:
    if point.get("ip"):
        point.setdefault("ipMode", "VIP")


def _service_port(port: JsonObject) -> None:
    if not port.get("targetPort"):
        port["targetPort"] = port.get("port", 0)


def _rolling(constants: Mapping[str, Any]) -> Callable[[JsonObject], None]:
    def rule(strategy: JsonObject) -> None:
        if strategy["type"] == "RollingUpdate":
            strategy["rollingUpdate"] = {**constants, **(strategy.get("rollingUpdate") or {})}

    return rule


def _claim_template(claim: JsonObject) -> None:
    claim.setdefault("kind", "PersistentVolumeClaim")
    claim.setdefault("apiVersion", "v1")


def _stateful_set(spec: JsonObject) -> None:
    for claim in spec.get("volumeClaimTemplates") or ():
        _claim_template(claim)


def _job(job: JsonObject) -> None:
    spec = job["spec"]
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", UNLIMITED if "backoffLimitPerIndex" in spec else 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("manualSelector", False)
    failing = "podFailurePolicy" in spec
    spec.setdefault("podReplacementPolicy", "Failed" if failing else "TerminatingOrFailed")


def _daemon_set(daemons: JsonObject) -> None:
    annotations = daemons["metadata"].setdefault("annotations", {})
    annotations.setdefault("deprecated.daemonset.template.generation", "1")


def _replication_controller(controller: JsonObject) -> None:
    labels = ((controller["spec"].get("template") or {}).get("metadata") or {}).get("labels")
    if labels:
        controller["metadata"].setdefault("labels", labels)
        controller["spec"].setdefault("selector", labels)


def _limit_range_item(item: JsonObject) -> None:
    """What a container may have at most is its limit, and its limit what it asks for."""
    if item["type"] != "Container":
        return
    limits = {**(item.get("max") or {}), **(item.get("default") or {})}
    requests = {**(item.get("min") or {}), **limits, **(item.get("defaultRequest") or {})}
    item |= {"default": limits} if limits else {}
    item |= {"defaultRequest": requests} if requests else {}


def _network_policy(spec: JsonObject) -> None:
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", *(["Egress"] if spec.get("egress") else [])]


def _old_autoscaler(autoscaler: JsonObject) -> None:
    """Version 1 says what it aims at, unless its annotations do."""
    if METRICS not in (autoscaler["metadata"].get("annotations") or {}):
        autoscaler["spec"].setdefault("targetCPUUtilizationPercentage", CPU_PERCENT)


def _autoscaler(spec: JsonObject) -> None:
    if not spec.get("metrics"):
        spec["metrics"] = [cpu_metric(CPU_PERCENT)]
    behavior = spec.get("behavior")
    if behavior is not None:
        # Growth begins at once, shrinking when the controller has seen enough.
        growth = {"stabilizationWindowSeconds": 0, **_scaling(_FOUR_PODS, _ALL_PODS)}
        behavior["scaleUp"] = {**growth, **(behavior.get("scaleUp") or {})}
        behavior["scaleDown"] = {**_scaling(_ALL_PODS), **(behavior.get("scaleDown") or {})}


def _scaling(*policies: JsonObject) -> JsonObject:
    return {"selectPolicy": "Max", "policies": [dict(policy) for policy in policies]}


def _namespace(namespace: JsonObject) -> None:
    metadata = namespace["metadata"]
    if metadata.get("name"):
        labels = metadata.get("labels") or {}
        metadata["labels"] = {**labels, "kubernetes.io/metadata.name": metadata["name"]}


def _secret(secret: JsonObject) -> None:
    written = secret.pop("stringData", None)
    if written:
        encoded = {key: b64encode(value.encode()).decode() for key, value in written.items()}
        secret["data"] = {**(secret.get("data") or {}), **encoded}


def _device_request(request: JsonObject) -> None:
    mode = request["allocationMode"] = request.get("allocationMode") or EXACT_COUNT
    if mode == EXACT_COUNT:
        request["count"] = request.get("count") or 1


def _csi_driver(spec: JsonObject) -> None:
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


def _flow_schema_spec(spec: JsonObject) -> None:
    spec["matchingPrecedence"] = spec.get("matchingPrecedence") or MATCHING_PRECEDENCE


def _queuing(queuing: JsonObject) -> None:
    for name, value in QUEUING.items():
        queuing[name] = queuing.get(name) or value


RULES: Mapping[str, Callable[[JsonObject], None]] = {
    "core.v1.Pod": _pod,
    "flowcontrol.v1.FlowSchemaSpec": _flow_schema_spec,
    "flowcontrol.v1.QueuingConfiguration": _queuing,
    "core.v1.PodSpec": _pod_spec,
    "core.v1.PodStatus": _pod_status,
    "core.v1.Container": _container,
    "core.v1.EphemeralContainer": _container,
    "core.v1.Volume": _volume,
    "core.v1.ImageVolumeSource": _image_volume,
    "core.v1.ServiceSpec": _service_spec,
    "core.v1.ServicePort": _service_port,
    "core.v1.LoadBalancerIngress": _ingress,
    "core.v1.Namespace": _namespace,
    "core.v1.ReplicationController": _replication_controller,
    "core.v1.LimitRangeItem": _limit_range_item,
    "networking.v1.NetworkPolicySpec": _network_policy,
    "autoscaling.v1.HorizontalPodAutoscaler": _old_autoscaler,
    "autoscaling.v2.HorizontalPodAutoscalerSpec": _autoscaler,
    "core.v1.Secret": _secret,
    "storage.v1.CSIDriverSpec": _csi_driver,
    "resource.v1.ExactDeviceRequest": _device_request,
    "resource.v1.DeviceSubRequest": _device_request,
    "apps.v1.DeploymentStrategy": _rolling({"maxUnavailable": _SHARE, "maxSurge": _SHARE}),
    "apps.v1.StatefulSetSpec": _stateful_set,
    "apps.v1.StatefulSetUpdateStrategy": _rolling({"partition": 0}),
    "apps.v1.DaemonSet": _daemon_set,
    "apps.v1.DaemonSetUpdateStrategy": _rolling({"maxUnavailable": 1, "maxSurge": 0}),
    "batch.v1.Job": _job,
}
