"""Drafts: what an object shall be after a write, decided without touching the store.

From what a client sent and the live object, in the order of a real server: decode
(quintant.cluster.apiserver.codec.decode), default, track field ownership. What is applied is in
quintant.cluster.apiserver.handlers.apply. After admission has had its say,
quintant.cluster.apiserver.handlers.prepare holds what may not change; what remains for the write
path (quintant.cluster.apiserver.handlers.write) is to name, validate and store the draft.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from quintant.cluster.apiserver.codec.decode import (
    FieldValidation,
    decode,
    drop_unknown,
    patched_object,
    sent_object,
)
from quintant.cluster.apiserver.codec.type_meta import check_kind
from quintant.cluster.apiserver.fieldmanager.managers import FieldManager
from quintant.cluster.apiserver.fieldmanager.update import track_update
from quintant.cluster.apiserver.handlers.scale import SCALE, track_scale
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kinds.metadata_rules import (
    check_resource_version,
    dedup_owner_references,
    set_namespace,
    wipe_system_metadata,
)
from quintant.cluster.apiserver.meta.field_errors import missing_resource_version
from quintant.cluster.apiserver.meta.status import StatusError, conflict
from quintant.cluster.apiserver.meta.types import Edit, JsonObject
from quintant.cluster.apiserver.storage.history import StoredEntry


def created(
    target: ObjectRef, sent: Any, author: FieldManager, field_validation: FieldValidation
) -> Draft:
    """A new object."""
    draft = read(target, sent, field_validation)
    said = draft.obj["metadata"].pop("resourceVersion", "0")
    return _new(replace(draft, has_resource_version=said.isdecimal() and int(said) > 0), author)


def created_by_update(draft: Draft, author: FieldManager) -> Draft:
    """A new object, where an update found none; it may say a revision, and no uid."""
    metadata = draft.obj["metadata"]
    check_resource_version(metadata.pop("resourceVersion", None))
    _check_uid(draft.target, metadata.get("uid"), "")
    return _new(draft, author)


def _new(draft: Draft, author: FieldManager) -> Draft:
    kind, obj = draft.target.kind, draft.obj
    check_kind(kind, draft.sent_kind, obj["metadata"].get("name", ""))
    wipe_system_metadata(obj)
    told = draft.warnings + dedup_owner_references(obj)
    default(kind, obj)
    track_update(kind, None, obj, author)
    return replace(draft, warnings=told)


def read(target: ObjectRef, sent: Any, field_validation: FieldValidation) -> Draft:
    """What was sent, as an object of its kind in its place."""
    obj = sent_object(target.kind, sent)
    warnings = decode(target.kind, obj, field_validation)
    _place(target, obj, warnings)
    return Draft(target, obj, warnings, sent_kind=sent.get("kind") or "")


def replaced(draft: Draft, base: StoredEntry, author: FieldManager) -> Draft:
    """An object that was read, in the place of the live one."""
    target, obj = draft.target, draft.obj
    live = stored_json.unpack(target.kind, base)
    try:
        _check_replacement(target, obj, live)
        check_kind(target.kind, draft.sent_kind, target.name)
    except StatusError as error:
        raise error.with_warnings(*draft.warnings) from None
    told = draft.warnings + dedup_owner_references(obj)
    return _updated(target, base, obj, live, author, told)


def patched(
    target: ObjectRef,
    base: StoredEntry,
    edit: Edit,
    author: FieldManager,
    field_validation: FieldValidation,
) -> Draft:
    """The live object after a patch."""
    live = stored_json.unpack(target.kind, base)
    changed = edit(stored_json.unpack(target.kind, base))
    obj = patched_object(target.kind, changed, field_validation)
    warnings = decode(target.kind, obj, field_validation, patch=True)
    _place(target, obj, warnings)
    return _updated(target, base, obj, live, author, warnings)


def server_updated(
    target: ObjectRef, base: StoredEntry, state: Edit, author: FieldManager
) -> Draft:
    """The live object in a state that the server gives it: its content is known to be right."""
    live = stored_json.unpack(target.kind, base)
    obj = state(live)
    track_update(target.kind, live, obj, author)
    return Draft(target, obj, base=base, live=live)


def mutated(draft: Draft, sent: Any) -> Draft:
    """The draft after a webhook made another object of its own; CoercionError if it is none."""
    kind = draft.target.kind
    obj = sent_object(kind, sent)
    drop_unknown(kind, obj)
    set_namespace(kind, obj, draft.target.namespace)
    default(kind, obj)
    return replace(draft, obj=obj)


def _place(target: ObjectRef, obj: JsonObject, warnings: tuple[str, ...]) -> None:
    """Say where an object is, in place; 400 with every warning so far if it is elsewhere."""
    try:
        set_namespace(target.kind, obj, target.namespace, target.name)
    except StatusError as error:
        raise error.with_warnings(*warnings) from None


def default(kind: Kind, obj: JsonObject) -> None:
    """Add what the kind says of what is absent, in place."""
    if (add_defaults := kind.strategy.default) is not None:
        add_defaults(obj)


def _updated(
    target: ObjectRef,
    base: StoredEntry,
    obj: JsonObject,
    live: JsonObject,
    author: FieldManager,
    warnings: tuple[str, ...],
) -> Draft:
    if target.subresource == SCALE:
        track_scale(target.kind, live, obj, author)
    else:
        default(target.kind, obj)
        track_update(target.kind, live, obj, author)
    return Draft(target, obj, warnings, base, live)


def _check_replacement(target: ObjectRef, obj: JsonObject, live: JsonObject) -> None:
    sent = obj["metadata"]
    unconditional = not sent.get("resourceVersion")
    if unconditional and not target.kind.strategy.update.allow_unconditional_update:
        raise missing_resource_version(target.kind.resource, target.name)
    _check_uid(target, sent.get("uid"), live["metadata"]["uid"])


def _check_uid(target: ObjectRef, sent: str | None, found: str) -> None:
    """409 for a document that was made for another object of that name."""
    if not sent or sent == found:
        return
    kind = target.kind
    text = (
        f"StorageError: invalid object, Code: 4, Key: /registry/{kind.etcd_prefix}/"
        f"{target.key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
        f"UID in precondition: {sent}, UID in object meta: {found}"
    )
    raise conflict(kind.resource, target.name, text)
