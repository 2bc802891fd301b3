"""metrics.k8s.io: what pods and nodes use now, as a metrics server tells it.

Nothing is stored; every answer is worked out from what the real node measures (`Meter`) and from
made-up figures for what is simulated. The group is served once somebody opens it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from quintant.api.metrics import GROUP, NodeMetrics, PodMetrics
from quintant.api.quantity import Quantity
from quintant.api.rbac import ClusterRole, PolicyRule
from quintant.client.transport import Call, Reply
from quintant.cluster.apiserver.handlers.meter import Meter, Usage
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.kind import Catalog, Kind
from quintant.cluster.apiserver.meta.request_info import Route
from quintant.cluster.apiserver.meta.selector_parser import parse_fields, parse_labels
from quintant.cluster.apiserver.meta.status import method_not_supported, not_found
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.storage.history import Entry
from quintant.cluster.apiserver.storage.revision_log import Store
from quintant.cluster.common.labels import FAULT, POD, SIMULATED
from quintant.cluster.simulated import usage
from quintant.cluster.simulated.faults import fault_named
from quintant.core.clock import Clock, timestamp
from quintant.core.object import ObjectMeta, Request
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


class _Meta(msgspec.Struct, rename="camel"):
    name: str
    namespace: str = ""
    creation_timestamp: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class _Requests(msgspec.Struct):
    requests: dict[str, Quantity] | None = None


class _Container(msgspec.Struct):
    name: str
    resources: _Requests = msgspec.field(default_factory=_Requests)


class _Spec(msgspec.Struct, rename="camel"):
    containers: tuple[_Container, ...] = ()
    node_name: str = ""


class _Status(msgspec.Struct):
    phase: str = ""
    capacity: dict[str, Quantity] | None = None


class _Pod(msgspec.Struct):
    metadata: _Meta
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


class _Node(msgspec.Struct):
    metadata: _Meta
    status: _Status = msgspec.field(default_factory=_Status)


class Metrics:
    """Answers what is used. Whoever runs pods for real adds its `Meter` under its node's name."""

    def __init__(self, store: Store, catalog: Catalog, clock: Clock) -> None:
        self._store, self._catalog, self._clock = store, catalog, clock
        self.meters: dict[str, Meter] = {}

    def open(self) -> None:
        """Serve the group from now on."""
        self._catalog.add(KINDS)

    def answer(self, call: Call, asked: Route, kind: Kind) -> Reply:
        """One object or a list, read only."""
        if asked.verb not in ("get", "list"):
            raise method_not_supported()
        now = self._clock.now()
        found = self._pods(now) if kind.resource.namespaced else self._nodes(now)
        head = {"kind": kind.resource.kind, "apiVersion": kind.resource.api_version}
        if asked.name:
            return _json(head | _named(kind, asked, found))
        head["kind"] += "List"
        labels = parse_labels(call.query.get("labelSelector", ""))
        fields = parse_fields(call.query.get("fieldSelector", ""), kind.field_path)
        items = [
            each
            for each in found
            if labels.matches(each["metadata"].get("labels") or {})
            and fields.matches(_fields(each))
            and asked.namespace in ("", each["metadata"].get("namespace"))
        ]
        return _json({**head, "metadata": {}, "items": items})

    def _pods(self, now: datetime) -> Iterator[JsonObject]:
        measured = {
            key: told for meter in self.meters.values() for key, told in meter.pods().items()
        }
        for pod in self._running():
            meta = pod.metadata
            told = measured.get(Request(meta.name, meta.namespace))
            if told is not None:
                yield _document(meta, told.at, told.window, containers=_listed(told.containers))
            elif POD in meta.annotations:
                made_up = _listed(_imagined(pod, now))
                yield _document(meta, now, usage.WINDOW_SECONDS, containers=made_up)

    def _nodes(self, now: datetime) -> Iterator[JsonObject]:
        used: dict[str, list[Usage]] = {}
        for pod in self._running():
            if POD in pod.metadata.annotations:
                used.setdefault(pod.spec.node_name, []).extend(_imagined(pod, now).values())
        for node in (stored_json.read(entry, _Node) for entry in self._entries("nodes")):
            meta, name = node.metadata, node.metadata.name
            told = self.meters[name].node() if name in self.meters else None
            if told is not None:
                yield _document(meta, told.at, told.window, usage=_amounts(told.containers[""]))
            elif SIMULATED in meta.labels:
                fault = fault_named(meta.annotations.get(FAULT, ""))
                whole = usage.node(used.get(name, ()), node.status.capacity or {}, fault)
                if whole is not None:
                    yield _document(meta, now, usage.WINDOW_SECONDS, usage=_amounts(whole))

    def _running(self) -> Iterator[_Pod]:
        for entry in self._entries("pods"):
            if entry.facts.get("status.phase") == "Running":
                yield stored_json.read(entry, _Pod)

    def _entries(self, table: str) -> Iterator[Entry]:
        return (entry for _, entry in self._store.table(table).now.scan())


def _imagined(pod: _Pod, now: datetime) -> dict[str, Usage]:
    where = f"{pod.metadata.namespace}/{pod.metadata.name}"
    return {
        each.name: usage.container(f"{where}/{each.name}", each.resources.requests or {}, now)
        for each in pod.spec.containers
    }


def _document(meta: _Meta, at: datetime, window: float, **figures: Any) -> JsonObject:
    about = {
        "name": meta.name,
        "namespace": meta.namespace,
        "creationTimestamp": timestamp(at),
        "labels": meta.labels,
    }
    shown = {name: value for name, value in about.items() if value}
    return {"metadata": shown, "timestamp": timestamp(at), "window": f"{window:g}s", **figures}


def _listed(containers: Mapping[str, Usage]) -> list[JsonObject]:
    return [{"name": name, "usage": _amounts(used)} for name, used in containers.items()]


def _amounts(used: Usage) -> dict[str, str]:
    return {"cpu": f"{int(used.cores * 1e9)}n", "memory": f"{used.memory // 1024}Ki"}


def _named(kind: Kind, asked: Route, found: Iterator[JsonObject]) -> JsonObject:
    for each in found:
        meta = each["metadata"]
        if (meta["name"], meta.get("namespace", "")) == (asked.name, asked.namespace):
            return each
    raise not_found(kind.resource, asked.name)


def _fields(each: JsonObject) -> dict[str, str]:
    return {f"metadata.{name}": each["metadata"].get(name, "") for name in ("name", "namespace")}


def _json(document: JsonObject) -> Reply:
    return Reply(200, msgspec.json.encode(document) + b"\n")
