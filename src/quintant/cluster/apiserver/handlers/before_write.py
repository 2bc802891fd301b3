"""BeforeCreate, BeforeUpdate: a draft becomes what will be stored, but for its name.

After admission, before validation: a new object begins its life, an update is kept from changing
what it may not change, the strategy of the kind prepares it, and the generation is counted.
Everything here is in place.
"""

from __future__ import annotations

from quintant.cluster.apiserver.fieldmanager.managers import check_managers, keep_times
from quintant.cluster.apiserver.handlers.scale import SCALE
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kinds.metadata_rules import (
    check_resource_version,
    content,
    keep_system_metadata,
    validate_immutable_metadata,
)
from quintant.cluster.apiserver.meta.status import object_modified
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.meta.user import User
from quintant.core.errors import Cause

_MISMANAGED = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an "
    "outdated mutating admission controller; please fix your requests"
)
_BESIDE_STATUS = ("", SCALE)
"""The endpoints that leave the status alone."""


def restore_managed_fields(obj: JsonObject, before: JsonObject) -> tuple[str, ...]:
    """Undo, in place, what webhooks did to the managers of an object if it makes no sense.

    Nobody owns what webhooks changed. What is told to who asked for the change.
    """
    metadata, sent = obj["metadata"], obj["metadata"].get("managedFields")
    if sent in ([], [{}]):
        del metadata["managedFields"]
        return ()
    try:
        check_managers(sent)
    except ValueError as error:
        obj["metadata"] = _managed(metadata, before["metadata"])
        return (f"{_MISMANAGED}: {error}",)
    return ()


def prepare(draft: Draft, user: User, now: str) -> list[Cause]:
    """Make the draft's object what will be stored, but for its name, in place.

    What it tried to change and may not; 409 if it was made for another state of the live object.
    """
    if draft.live is None:
        _begin(draft.target.kind, draft.obj, user)
        return []
    found = _restrain(draft.target, draft.obj, draft.live, now)
    keep_times(draft.obj, draft.live)
    return found


def bump_generation(kind: Kind, obj: JsonObject, live: JsonObject) -> None:
    """Raise the generation of an object that says something else than the live one, in place."""
    if kind.strategy.tracks_generation and content(kind, obj) != content(kind, live):
        obj["metadata"]["generation"] = live["metadata"].get("generation", 0) + 1


def _begin(kind: Kind, obj: JsonObject, user: User) -> None:
    """Make what was sent the beginning of an object, in place."""
    create = kind.strategy.create
    if kind.resource.status and not create.keep_status:
        obj.pop("status", None)
        obj |= {} if kind.message is None else {"status": kind.message.zero()["status"]}
    if kind.strategy.tracks_generation:
        obj["metadata"]["generation"] = 1
    if create.prepare_for_create is not None:
        create.prepare_for_create(obj)
    if create.set_requester is not None:
        create.set_requester(obj, user)


def _restrain(target: ObjectRef, obj: JsonObject, live: JsonObject, now: str) -> list[Cause]:
    """Hold what an update may not change, in place; 409 if it was made for another state."""
    kind = target.kind
    locked = obj["metadata"].get("resourceVersion")
    check_resource_version(locked)
    if locked and locked != live["metadata"]["resourceVersion"]:
        raise object_modified(kind.resource, target.name)
    if target.subresource == "status":
        _reset_metadata(kind, obj, live)
    found = validate_immutable_metadata(obj, live)
    if target.subresource == "status":
        _only_status(kind, obj, live)
    elif kind.resource.status and target.subresource in _BESIDE_STATUS:
        _without_status(obj, live)
    keep_system_metadata(obj, live)
    update = kind.strategy.update
    if update.prepare_for_update is not None and not target.subresource:
        update.prepare_for_update(obj, live)
    if target.subresource in update.prepare_subresource:
        update.prepare_subresource[target.subresource](obj, live, now)
    return found


def _reset_metadata(kind: Kind, obj: JsonObject, live: JsonObject) -> None:
    """Bring back, in place, the metadata that a write of the status may not change."""
    metadata, before = obj["metadata"], live["metadata"]
    for name in kind.strategy.update.status_resets:
        metadata.pop(name, None)
        metadata |= {name: before[name]} if name in before else {}


def _only_status(kind: Kind, obj: JsonObject, live: JsonObject) -> None:
    """Make the draft differ from the live object in its status alone, in place."""
    status, metadata = obj.get("status"), obj["metadata"]
    obj.clear()
    obj |= live
    own = kind.strategy.update.status_updates_metadata
    obj["metadata"] = metadata if own else _managed(live["metadata"], metadata)
    if status is None:
        obj.pop("status", None)
    else:
        obj["status"] = status


def _managed(metadata: JsonObject, source: JsonObject) -> JsonObject:
    """Metadata with the managers of other metadata."""
    kept = {key: value for key, value in metadata.items() if key != "managedFields"}
    found = source.get("managedFields")
    return {**kept, "managedFields": found} if found else kept


def _without_status(obj: JsonObject, live: JsonObject) -> None:
    if "status" in live:
        obj["status"] = live["status"]
    else:
        obj.pop("status", None)
