"""What the server adds to a new built-in object before anybody sees it.

One function per kind that needs it. Values a client sent are kept where a client may choose them.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable

from quintant.cluster import crd
from quintant.cluster.catalog import Plain

NAMESPACE_FINALIZER = "kubernetes"


def _namespace(obj: Plain) -> None:
    metadata = obj["metadata"]
    if metadata.get("name"):
        labels = dict(metadata.get("labels") or {})
        metadata["labels"] = labels | {"kubernetes.io/metadata.name": metadata["name"]}
    spec = obj.setdefault("spec", {})
    spec.setdefault("finalizers", [NAMESPACE_FINALIZER])
    obj["status"] = {"phase": "Active"}


def terminate(obj: Plain, now: str) -> None:
    """Show that a namespace is being deleted, in place."""
    obj["status"] = dict(obj.get("status") or {}) | {"phase": "Terminating"}


def _pod(obj: Plain) -> None:
    obj["status"] = {"phase": "Pending"}


def _claim(obj: Plain) -> None:
    obj["status"] = {"phase": "Pending"}


def _volume(obj: Plain) -> None:
    obj["status"] = {"phase": "Pending"}


def _secret(obj: Plain) -> None:
    obj.setdefault("type", "Opaque")
    written = obj.pop("stringData", None)
    if written:
        encoded = {key: b64encode(value.encode()).decode() for key, value in written.items()}
        obj["data"] = dict(obj.get("data") or {}) | encoded


COMPLETE: dict[str, Callable[[Plain], None]] = {
    "customresourcedefinitions": crd.complete,
    "namespaces": _namespace,
    "pods": _pod,
    "persistentvolumeclaims": _claim,
    "persistentvolumes": _volume,
    "secrets": _secret,
}
