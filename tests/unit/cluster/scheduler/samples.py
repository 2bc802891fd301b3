"""Pods and nodes for the tests of the scheduler."""

from __future__ import annotations

from typing import Any

from quintant.cluster.common.views import NodeView, PodView
from quintant.cluster.scheduler.pod_info import PodInfo, read_pod_info
from quintant.cluster.scheduler.snapshot import NodeSnapshot
from quintant.core import codec


def node(name: str, *, cpu: str = "4", memory: str = "8Gi", pods: str = "110", **more: Any) -> Any:
    """A node with a hostname; `labels`, `taints`, `unschedulable` and `gpus` may be given."""
    labels = {"kubernetes.io/hostname": name, **more.get("labels", {})}
    spec = {"taints": more.get("taints", []), "unschedulable": more.get("unschedulable", False)}
    has = {"cpu": cpu, "memory": memory, "pods": pods}
    if "gpus" in more:
        has["example.com/gpu"] = more["gpus"]
    meta = {"name": name, "uid": f"node-{name}", "labels": labels}
    status = {"allocatable": has, "capacity": has}
    return codec.from_plain(NodeView, {"metadata": meta, "spec": spec, "status": status})


def pod(name: str, *, on: str = "", cpu: str = "", labels: Any = None, **spec: Any) -> PodView:
    """A pod, perhaps on a node already."""
    requests = {"cpu": cpu} if cpu else {}
    requests.update(spec.pop("requests", {}))
    container = {"name": "c", "image": "x", "resources": {"requests": requests}}
    container["ports"] = spec.pop("ports", [])
    meta = {"name": name, "namespace": spec.pop("namespace", "default"), "uid": f"pod-{name}"}
    return codec.from_plain(
        PodView,
        {
            "metadata": {**meta, "labels": labels or {}},
            "spec": {
                "schedulerName": "default-scheduler",
                "nodeName": on,
                "containers": [container],
                **spec,
            },
        },
    )


def snapshot(*nodes: NodeView, pods: tuple[PodView, ...] = ()) -> NodeSnapshot:
    """A snapshot with nodes, and pods on them."""
    made = NodeSnapshot()
    made.sync(nodes, pods)
    return made


def pod_info(given: PodView, *, real: bool = False) -> PodInfo:
    """What a pod wishes for; with `real`, a real node could run it."""
    return read_pod_info(given, lambda image, command: "a program" if real else None)
