"""PrepareForCreate, PrepareForUpdate: what the server itself writes, by built-in kind.

One function per kind that needs it. Values a client sent are kept where a client may choose them.

What counts as a change of a workload, beyond its spec: a Deployment's generation grows with its
annotations, too, because its ReplicaSets take them over. That of a DaemonSet's template is an
annotation that only the server sets.
"""

from __future__ import annotations

from collections.abc import Callable

from quintant.cluster.apiserver.crd import definition
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.registry.certificates import CSRS, keep_request
from quintant.wire.digits import parse_digits

NAMESPACE_FINALIZER = "kubernetes"
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
_SOURCE = ("apiGroup", "kind", "name")
"""What the older of a claim's two sources has."""


def bump_deployment_generation(obj: JsonObject, live: JsonObject) -> None:
    """Count a change of annotations, in place."""
    if _annotations(obj) != _annotations(live):
        obj["metadata"]["generation"] = live["metadata"].get("generation", 0) + 1


def bump_template_generation(obj: JsonObject, live: JsonObject) -> None:
    """Count a change of the template, in place, whatever the client says of it."""
    count = _annotations(live).get(TEMPLATE_GENERATION, "0")
    if obj["spec"].get("template") != live["spec"].get("template"):
        count = str((parse_digits(count) or 0) + 1)
    obj["metadata"]["annotations"] = {**_annotations(obj), TEMPLATE_GENERATION: count}


def bump_slice_generation(obj: JsonObject, live: JsonObject) -> None:
    """Count a change of labels, in place."""
    if obj["metadata"].get("labels") != live["metadata"].get("labels"):
        obj["metadata"]["generation"] = live["metadata"].get("generation", 0) + 1


def bump_driver_generation(obj: JsonObject, live: JsonObject) -> None:
    """Count a change of a driver's spec, in place; a new one has no generation."""
    if obj.get("spec") != live.get("spec"):
        obj["metadata"]["generation"] = live["metadata"].get("generation", 0) + 1


def _annotations(obj: JsonObject) -> JsonObject:
    found: JsonObject = obj["metadata"].get("annotations") or {}
    return found


def _namespace(obj: JsonObject) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("finalizers", [NAMESPACE_FINALIZER])
    obj["status"] = {"phase": "Active"}


def terminate_namespace(obj: JsonObject, now: str) -> None:
    """Show that a namespace is being deleted, in place."""
    obj["status"] = dict(obj.get("status") or {}) | {"phase": "Terminating"}


def keep_namespace_finalizers(obj: JsonObject, live: JsonObject) -> None:
    """Keep what holds a namespace, in place: its own subresource alone changes that."""
    obj["spec"] = dict(live.get("spec") or {})


def _claim(obj: JsonObject) -> None:
    obj["status"] = {"phase": "Pending"}
    spec = obj.setdefault("spec", {})
    old, new = spec.get("dataSource"), spec.get("dataSourceRef")
    if old and not new:
        spec["dataSourceRef"] = dict(old)
    elif new and not old and not new.get("namespace"):
        spec["dataSource"] = {name: new[name] for name in _SOURCE if name in new}


PREPARE_FOR_CREATE: dict[str, Callable[[JsonObject], None]] = {
    "customresourcedefinitions": definition.prepare_for_create,
    "namespaces": _namespace,
    "persistentvolumeclaims": _claim,
}
PREPARE_FOR_UPDATE: dict[str, Callable[[JsonObject, JsonObject], None]] = {
    CSRS: keep_request,
    "csidrivers": bump_driver_generation,
    "customresourcedefinitions": definition.prepare_for_update,
    "daemonsets": bump_template_generation,
    "deployments": bump_deployment_generation,
    "endpointslices": bump_slice_generation,
    "namespaces": keep_namespace_finalizers,
}
