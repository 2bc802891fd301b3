"""NodeMetrics, PodMetrics: metrics.k8s.io: what nodes and pods use now.

Nothing is stored; every answer is worked out from what is stored of pods and nodes, and from what
the meters of those that run them say. The group is served once somebody opens it.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from quintant.api.metrics import GROUP, NodeMetrics, PodMetrics
from quintant.api.rbac import ClusterRole, PolicyRule
from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kubelet_client.meter import (
    MeasuredMeta,
    MeasuredNode,
    MeasuredPod,
    Meter,
    NodeUsage,
    PodUsage,
    ResourceUsage,
)
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.selector_parser import parse_fields, parse_labels
from quintant.cluster.apiserver.meta.status import method_not_supported, not_found
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.core.clock import timestamp
from quintant.core.object import ObjectMeta
from quintant.core.resource import resource_of

KINDS = tuple(
    Kind(resource_of(kind), table=resource_of(kind).full_name, computed=True)
    for kind in (NodeMetrics, PodMetrics)
)
READER = ClusterRole(
    metadata=ObjectMeta(
        name="system:aggregated-metrics-reader",
        labels={
            f"rbac.authorization.k8s.io/aggregate-to-{role}": "true"
            for role in ("admin", "edit", "view")
        },
    ),
    rules=(
        PolicyRule(
            api_groups=(GROUP,), resources=("pods", "nodes"), verbs=("get", "list", "watch")
        ),
    ),
)
"""What lets everybody read figures who may read pods."""


class MetricsApi:
    """Answers what is used. Whoever runs pods adds its `Meter`."""

    def __init__(self, store: RevisionStore, catalog: Catalog) -> None:
        self._store, self._catalog = store, catalog
        self.meters: list[Meter] = []
        """The first one that knows a pod or a node is believed."""

    def open(self) -> None:
        """Serve the group from now on."""
        self._catalog.add(KINDS)

    def answer(self, call: ApiRequest, request_info: RequestInfo, kind: Kind) -> ApiResponse:
        """One object or a list, read only."""
        if request_info.verb not in ("get", "list"):
            raise method_not_supported()
        documents = self._pods() if kind.resource.namespaced else self._nodes()
        head = {"kind": kind.resource.kind, "apiVersion": kind.resource.api_version}
        if request_info.name:
            return _json(head | _named(kind, request_info, documents))
        head["kind"] += "List"
        labels = parse_labels(call.query.get("labelSelector", ""))
        fields = parse_fields(call.query.get("fieldSelector", ""), kind.field_path)
        items = [
            each
            for each in documents
            if labels.matches(each["metadata"].get("labels") or {})
            and fields.matches(_fields(each))
            and request_info.namespace in ("", each["metadata"].get("namespace"))
        ]
        return _json({**head, "metadata": {}, "items": items})

    def pods_of(self, node: str) -> Iterator[tuple[MeasuredMeta, PodUsage]]:
        """What the pods of a node use, as far as it is known."""
        running = [pod for pod in self._running() if pod.spec.node_name == node]
        return ((pod.metadata, used) for pod, used in self._measured(running))

    def node(self, name: str) -> NodeUsage | None:
        """What a node uses, if that is known."""
        return next((used for node, used in self._measured_nodes() if node.name == name), None)

    def _pods(self) -> Iterator[JsonObject]:
        for pod, used in self._measured(self._running()):
            containers = _listed(used.containers)
            yield _document(pod.metadata, used.at, used.window, containers=containers)

    def _measured(self, running: Sequence[MeasuredPod]) -> Iterator[tuple[MeasuredPod, PodUsage]]:
        usages = ChainMap(*(dict(meter.pods(running)) for meter in self.meters))
        for pod in running:
            used = usages.get(pod.key)
            if used is not None:
                yield pod, used

    def _nodes(self) -> Iterator[JsonObject]:
        for node, used in self._measured_nodes():
            yield _document(node, used.at, used.window, usage=_amounts(used.usage))

    def _measured_nodes(self) -> Iterator[tuple[MeasuredMeta, NodeUsage]]:
        running = self._running()
        nodes = [stored_json.read(entry, MeasuredNode) for entry in self._entries("nodes")]
        usages = ChainMap(*(dict(meter.nodes(nodes, running)) for meter in self.meters))
        for node in nodes:
            used = usages.get(node.metadata.name)
            if used is not None:
                yield node.metadata, used

    def _running(self) -> list[MeasuredPod]:
        return [
            stored_json.read(entry, MeasuredPod)
            for entry in self._entries("pods")
            if entry.field_values.get("status.phase") == "Running"
        ]

    def _entries(self, table: str) -> Iterator[StoredEntry]:
        return (entry for _, entry in self._store.table(table).now.scan())


def _document(meta: MeasuredMeta, at: datetime, window: float, **figures: Any) -> JsonObject:
    about = {
        "name": meta.name,
        "namespace": meta.namespace,
        "creationTimestamp": timestamp(at),
        "labels": meta.labels,
    }
    shown = {name: value for name, value in about.items() if value}
    return {"metadata": shown, "timestamp": timestamp(at), "window": f"{window:g}s", **figures}


def _listed(containers: Mapping[str, ResourceUsage]) -> list[JsonObject]:
    return [{"name": name, "usage": _amounts(used)} for name, used in containers.items()]


def _amounts(used: ResourceUsage) -> dict[str, str]:
    return {"cpu": f"{int(used.cores * 1e9)}n", "memory": f"{used.memory // 1024}Ki"}


def _named(kind: Kind, request_info: RequestInfo, documents: Iterator[JsonObject]) -> JsonObject:
    for each in documents:
        meta = each["metadata"]
        if (meta["name"], meta.get("namespace", "")) == (request_info.name, request_info.namespace):
            return each
    raise not_found(kind.resource, request_info.name)


def _fields(each: JsonObject) -> dict[str, str]:
    return {f"metadata.{name}": each["metadata"].get(name, "") for name in ("name", "namespace")}


def _json(document: JsonObject) -> ApiResponse:
    return ApiResponse(200, msgspec.json.encode(document) + b"\n")
