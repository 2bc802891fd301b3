"""What the server adds to a new built-in object before anybody sees it.

One function per kind that needs it. Values a client sent are kept where a client may choose them.
"""

from __future__ import annotations

from collections.abc import Callable

from quintant.cluster.apiserver.crd import definition
from quintant.cluster.apiserver.meta.types import JsonObject

NAMESPACE_FINALIZER = "kubernetes"
_SOURCE = ("apiGroup", "kind", "name")
"""What the older of a claim's two sources has."""


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
