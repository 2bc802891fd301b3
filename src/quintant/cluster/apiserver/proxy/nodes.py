"""InstallDefaultHandlers: what a kubelet answers, as the server knows it; nothing is dialled.

`/healthz`, `/pods` and `/stats/summary` are what programs read there. Whatever else a kubelet has
is refused: logs, commands and ports of pods are subresources of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.handlers.metrics import MetricsApi
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kubelet_client.meter import NodeUsage, PodUsage, ResourceUsage
from quintant.cluster.apiserver.meta.status import (
    method_not_supported,
    not_found,
    service_unavailable,
)
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.proxy.location import ProxyTarget
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.core.clock import timestamp

KUBELET_PORT = "10250"
_TEXT = {"content-type": "text/plain; charset=utf-8"}
_READING = ("GET", "HEAD")


class _Condition(msgspec.Struct, frozen=True):
    type: str = ""
    status: str = ""


class _NodeStatus(msgspec.Struct, frozen=True):
    conditions: tuple[_Condition, ...] | None = None


class _Node(msgspec.Struct, frozen=True):
    status: _NodeStatus = _NodeStatus()

    @property
    def reachable(self) -> bool:
        """Whether a kubelet says something of itself, be it good or bad."""
        known = {each.type: each.status for each in self.status.conditions or ()}
        return known.get("Ready") in ("True", "False")


class NodeProxy:
    """Answers for kubelets."""

    def __init__(self, store: RevisionStore, metrics: MetricsApi, pods: Kind) -> None:
        self._store, self._metrics, self._pods = store, metrics, pods
        self._documents: Mapping[str, Callable[[str], ApiResponse]] = {
            "/healthz": lambda _: ApiResponse(200, b"ok", _TEXT),
            "/pods": self._list_pods,
            "/stats/summary": self._summarize,
        }

    def answer(self, call: ApiRequest, kind: Kind, target: ProxyTarget, path: str) -> ApiResponse:
        """What the kubelet of a node would say."""
        entry = self._store.table(kind.table).entries.get(target.name)
        if entry is None:
            raise not_found(kind.resource, target.name)
        document = self._documents.get(path.rstrip("/"))
        if document is None or target.port not in ("", KUBELET_PORT):
            raise service_unavailable(
                f"{path or '/'} of node {target.name} is not served by this cluster: "
                f"{', '.join(self._documents)} are"
            )
        if call.method not in _READING:
            raise method_not_supported()
        if not stored_json.read(entry, _Node).reachable:
            raise service_unavailable(
                f'error trying to reach service: node "{target.name}" cannot be reached'
            )
        return document(target.name)

    def _list_pods(self, node: str) -> ApiResponse:
        entries = (entry for _, entry in self._store.table(self._pods.table).now.scan())
        items = [
            stored_json.unpack(self._pods, entry)
            for entry in entries
            if entry.field_values.get("spec.nodeName") == node
        ]
        return _json({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items})

    def _summarize(self, node: str) -> ApiResponse:
        used = self._metrics.node(node)
        pods = [
            {
                "podRef": {"name": meta.name, "namespace": meta.namespace, "uid": meta.uid},
                "containers": [
                    {"name": name, **_figures(usage, each)}
                    for name, usage in each.containers.items()
                ],
            }
            for meta, each in self._metrics.pods_of(node)
        ]
        figures = {} if used is None else _figures(used.usage, used)
        return _json({"node": {"nodeName": node, **figures}, "pods": pods})


def _figures(usage: ResourceUsage, measured: NodeUsage | PodUsage) -> JsonObject:
    at = timestamp(measured.at)
    return {
        "cpu": {"time": at, "usageNanoCores": int(usage.cores * 1e9)},
        "memory": {"time": at, "workingSetBytes": usage.memory},
    }


def _json(document: Any) -> ApiResponse:
    return ApiResponse(200, msgspec.json.encode(document) + b"\n")
