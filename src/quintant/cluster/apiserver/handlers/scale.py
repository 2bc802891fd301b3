"""ScaleREST: the subresource Scale: the replicas that an object wants and has.

A Scale is made from its parent and a change of it is a change of the parent, so it has neither
storage nor revision of its own.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from quintant.cluster.apiserver import go_types
from quintant.cluster.apiserver.codec.decode import coerced
from quintant.cluster.apiserver.fieldmanager.managers import (
    UPDATE,
    FieldManager,
    ManagedFields,
    Managers,
    decode_managed_fields,
    encode_managed_fields,
    remove_fields,
)
from quintant.cluster.apiserver.fieldmanager.update import track_apply
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kinds.metadata_rules import set_namespace
from quintant.cluster.apiserver.meta.field_errors import invalid, invalid_object
from quintant.cluster.apiserver.meta.selectors import selector_text
from quintant.cluster.apiserver.meta.status import bad_request, internal_error, resource_not_found
from quintant.cluster.apiserver.meta.types import Edit, JsonObject
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.structuredmerge.builtin_schema import builtin_schema
from quintant.cluster.apiserver.structuredmerge.fieldset import FieldSet, field_element
from quintant.core.resource import Resource, Scale

SCALE = "scale"
DOCUMENT = Resource("autoscaling", "v1", "Scale", SCALE)
SCALES = Kind(
    DOCUMENT, table="", merge_schema=builtin_schema(go_types.message("autoscaling.v1.Scale"))
)
"""How a Scale is written; there is no table of them."""
_REPLICAS = FieldSet.of(("f:spec", "f:replicas"))
_SHARED = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale_of(kind: Kind, entry: StoredEntry) -> StoredEntry:
    """The Scale of a stored object; 500 for a custom resource that does not say its replicas."""
    parent, path = stored_json.unpack(kind, entry), _paths(kind).replicas
    if kind.custom and _read(parent, path) is None:
        raise internal_error(f'the spec replicas field "{path}" does not exist')
    return stored_json.pack(SCALES, view_scale(kind, parent), entry.rv)


def edit_scale(kind: Kind, edit: Edit, *, patch: bool = False) -> Edit:
    """A change of the Scale, as a change of its parent."""

    def changed(live: JsonObject) -> JsonObject:
        sent = edit(view_scale(kind, live))
        if not isinstance(sent, dict) or sent.get("kind", "Scale") != "Scale":
            raise bad_request("the body is not a Scale document")
        coerced(sent, DOCUMENT, patch=patch)
        metadata, sent_metadata = live["metadata"], dict(sent.get("metadata") or {})
        set_namespace(
            kind, {"metadata": sent_metadata}, metadata.get("namespace", ""), metadata["name"]
        )
        _check_replicas(kind, live, sent, patch=patch)
        put_scale(kind, live, sent)
        metadata["resourceVersion"] = (
            sent_metadata.get("resourceVersion") or metadata["resourceVersion"]
        )
        return live

    return changed


def _check_replicas(kind: Kind, live: JsonObject, scale: JsonObject, *, patch: bool) -> None:
    """400 or 422 for a Scale that says no number of replicas."""
    path, replicas = _paths(kind).replicas, (scale.get("spec") or {}).get("replicas")
    if kind.custom and patch and replicas is None and _read(live, path) is None:
        raise bad_request(f'the spec replicas field "{path}" cannot be empty')
    # Of a custom resource its own schema has more to say.
    if not kind.custom and isinstance(replicas, int) and replicas < 0:
        complaint = invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        raise invalid_object(DOCUMENT, live["metadata"]["name"], complaint)


def put_scale(kind: Kind, parent: JsonObject, scale: JsonObject) -> None:
    """Make a parent as large as a Scale says, in place."""
    _write(parent, _paths(kind).replicas, (scale.get("spec") or {}).get("replicas", 0))


def track_scale(kind: Kind, live: JsonObject, new: JsonObject, author: FieldManager) -> None:
    """Write the managedFields of an object whose scale was changed into its metadata.

    No replicas are none at all in a Scale, so nobody owns them; and what is written here has no
    time, as on a real server.
    """
    path, replicas = _paths(kind).replicas, _replicas_field(kind)
    managers = decode_managed_fields(live["metadata"].get("managedFields"))
    before, after = _read(live, path) or 0, _read(new, path) or 0
    new["metadata"].pop("managedFields", None)
    if before != after and any(managed.fields & replicas for managed in managers.values()):
        managers = remove_fields(managers, replicas)
        if after:
            manager = author.identifier(UPDATE, kind)
            managers[manager] = ManagedFields(replicas, "", kind.resource.api_version)
    encode_managed_fields(new, managers)


def applied_scale(
    kind: Kind, live: JsonObject, config: JsonObject, author: FieldManager, *, force: bool
) -> JsonObject:
    """The live object with a Scale applied; 409 if the replicas are somebody else's."""
    scale = view_scale(kind, live)
    managers = decode_managed_fields(live["metadata"].get("managedFields"))
    owners = {
        manager: ManagedFields(_REPLICAS, managed.time, DOCUMENT.api_version)
        for manager, managed in managers.items()
        if managed.fields & _replicas_field(kind)
    }
    encode_managed_fields(scale, owners)
    scaled = track_apply(SCALES, scale, config, author, force=force)
    _check_replicas(kind, live, scaled, patch=False)
    new = dict(live)
    replicas = (scaled.get("spec") or {}).get("replicas") or 0
    new["spec"] = dict(live.get("spec") or {})
    _write(new, _paths(kind).replicas, replicas)
    after = decode_managed_fields(scaled["metadata"].get("managedFields"))
    encode_managed_fields(new, _returned(kind, managers, after))
    return new


def _returned(kind: Kind, managers: Managers, scaled: Managers) -> Managers:
    """The managers of an object after those of its scale have changed."""
    replicas, version = _replicas_field(kind), kind.resource.api_version
    own = {manager for manager, managed in scaled.items() if managed.fields & _REPLICAS}
    kept = {
        manager: one
        for manager, managed in managers.items()
        for one in (
            [managed] if manager in own else remove_fields({manager: managed}, replicas).values()
        )
    }
    gained = {
        replace(manager, api_version=version if manager.operation == UPDATE else ""): ManagedFields(
            replicas, "", version
        )
        for manager in own - managers.keys()
    }
    return kept | gained


def _replicas_field(kind: Kind) -> FieldSet:
    """The replicas, as a field of the object itself."""
    parts = _paths(kind).replicas.strip(".").split(".")
    return FieldSet.of(tuple(field_element(part) for part in parts))


def view_scale(kind: Kind, parent: JsonObject) -> JsonObject:
    """The Scale of an object."""
    paths, metadata = _paths(kind), parent["metadata"]
    status = {"replicas": _read(parent, paths.status_replicas) or 0}
    replicas = _read(parent, paths.replicas)
    selector = selector_text(_read(parent, paths.selector)) if paths.selector else ""
    if selector:
        status["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in _SHARED if name in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def _paths(kind: Kind) -> Scale:
    if kind.scale is None:
        raise resource_not_found()
    return kind.scale


def _read(obj: Any, path: str) -> Any:
    for part in path.strip(".").split("."):
        obj = obj.get(part) if isinstance(obj, dict) else None
    return obj


def _write(obj: JsonObject, path: str, value: Any) -> None:
    *parents, last = path.strip(".").split(".")
    for part in parents:
        obj = obj.setdefault(part, {})
    obj[last] = value
