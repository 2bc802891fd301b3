"""The scale subresource: how many replicas an object wants and has, in one common document.

A Scale is made from its parent and a change of it is a change of the parent, so it has neither
storage nor revision of its own.
"""

from __future__ import annotations

from typing import Any

from quintant.cluster import wire
from quintant.cluster.catalog import Kind, Plain
from quintant.cluster.drafts import Edit
from quintant.cluster.objects import placed
from quintant.cluster.problems import bad_request, internal, no_resource
from quintant.cluster.ring import Entry
from quintant.runtime.resource import Resource, Scale

SCALE = "scale"
DOCUMENT = Resource("autoscaling", "v1", "Scale", SCALE)
SCALES = Kind(DOCUMENT, table="")
"""How a Scale is written; there is no table of them."""
_SHARED = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale_of(kind: Kind, entry: Entry) -> Entry:
    """The Scale of a stored object; 500 for a custom resource that does not say its replicas."""
    parent, path = wire.unpack(kind, entry), _paths(kind).replicas
    if kind.custom and _read(parent, path) is None:
        raise internal(f'the spec replicas field "{path}" does not exist')
    return wire.pack(SCALES, view_scale(kind, parent), entry.rv)


def edit_scale(kind: Kind, edit: Edit) -> Edit:
    """A change of the Scale, as a change of its parent."""

    def changed(live: Plain) -> Plain:
        sent = edit(view_scale(kind, live))
        if not isinstance(sent, dict) or sent.get("kind", "Scale") != "Scale":
            raise bad_request("the body is not a Scale document")
        metadata, said = live["metadata"], dict(sent.get("metadata") or {})
        placed(kind, {"metadata": said}, metadata.get("namespace", ""), metadata["name"])
        put_scale(kind, live, sent)
        metadata["resourceVersion"] = said.get("resourceVersion") or metadata["resourceVersion"]
        return live

    return changed


def put_scale(kind: Kind, parent: Plain, scale: Plain) -> None:
    """Make a parent as large as a Scale says, in place."""
    _write(parent, _paths(kind).replicas, (scale.get("spec") or {}).get("replicas", 0))


def view_scale(kind: Kind, parent: Plain) -> Plain:
    """The Scale of an object."""
    paths, metadata = _paths(kind), parent["metadata"]
    status = {"replicas": _read(parent, paths.status_replicas) or 0}
    selector = selector_text(_read(parent, paths.selector)) if paths.selector else ""
    if selector:
        status["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in _SHARED if name in metadata},
        "spec": {"replicas": _read(parent, paths.replicas) or 0},
        "status": status,
    }


def _paths(kind: Kind) -> Scale:
    if kind.scale is None:
        raise no_resource()
    return kind.scale


def _read(obj: Any, path: str) -> Any:
    for part in path.strip(".").split("."):
        obj = obj.get(part) if isinstance(obj, dict) else None
    return obj


def _write(obj: Plain, path: str, value: Any) -> None:
    *parents, last = path.strip(".").split(".")
    for part in parents:
        obj = obj.setdefault(part, {})
    obj[last] = value


def selector_text(found: Any) -> str:
    """A selector as text: custom resources store it so, built-in kinds as an object."""
    if not isinstance(found, dict):
        return str(found or "")
    terms = [(key, f"{key}={value}") for key, value in (found.get("matchLabels") or {}).items()]
    terms += [(term["key"], _term(term)) for term in found.get("matchExpressions") or ()]
    return ",".join(text for _, text in sorted(terms, key=lambda term: term[0]))


def _term(term: Plain) -> str:
    key, values = term["key"], ",".join(sorted(term.get("values") or ()))
    match term["operator"]:
        case "Exists":
            return str(key)
        case "DoesNotExist":
            return f"!{key}"
    return f"{key} {term['operator'].lower()} ({values})"
