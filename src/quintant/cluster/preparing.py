"""What the server adds to a new built-in object before anybody sees it.

One function per kind that needs it. Values a client sent are kept where a client may choose them.
"""

from __future__ import annotations

from collections.abc import Callable

from quintant.cluster import crd
from quintant.cluster.catalog import Plain

NAMESPACE_FINALIZER = "kubernetes"


def _namespace(obj: Plain) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("finalizers", [NAMESPACE_FINALIZER])
    obj["status"] = {"phase": "Active"}


def terminate(obj: Plain, now: str) -> None:
    """Show that a namespace is being deleted, in place."""
    obj["status"] = dict(obj.get("status") or {}) | {"phase": "Terminating"}


def _claim(obj: Plain) -> None:
    obj["status"] = {"phase": "Pending"}


COMPLETE: dict[str, Callable[[Plain], None]] = {
    "customresourcedefinitions": crd.complete,
    "namespaces": _namespace,
    "persistentvolumeclaims": _claim,
}
