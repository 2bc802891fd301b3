"""UpdateResource: the body of a PUT becomes the draft that takes the place of the live object.

Some kinds may be created so, too (`AllowCreateOnUpdate`). What an update may not change is restored
later (quintant.cluster.apiserver.handlers.before_write). A Scale that is put is a patch of what is
scaled.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.codec.body import read_object
from quintant.cluster.apiserver.codec.decode import decode_draft
from quintant.cluster.apiserver.codec.type_meta import check_kind
from quintant.cluster.apiserver.codec.write_options import WriteOptions, write_options
from quintant.cluster.apiserver.fieldmanager.managers import FieldManager
from quintant.cluster.apiserver.fieldmanager.update import track_update
from quintant.cluster.apiserver.handlers.create import begin_object
from quintant.cluster.apiserver.handlers.patch import change_object, draft_patch
from quintant.cluster.apiserver.handlers.scale import DOCUMENT, SCALE, edit_scale
from quintant.cluster.apiserver.handlers.store import ObjectStore
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.kinds.metadata_rules import (
    check_resource_version,
    dedup_owner_references,
)
from quintant.cluster.apiserver.meta.field_errors import missing_resource_version
from quintant.cluster.apiserver.meta.status import StatusError, conflict, not_found
from quintant.cluster.apiserver.meta.types import Edit, JsonObject
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.storage.history import StoredEntry


def read_update_request(
    objects: ObjectStore, call: ApiRequest, target: ObjectRef, user: User, now: str
) -> tuple[Draft, WriteOptions]:
    """The draft that a PUT asks for at a time, and its options."""
    scale = target.subresource == SCALE
    document = DOCUMENT if scale else target.kind.resource
    custom = target.kind.custom and not scale
    sent = read_object(call.headers, call.body, document, custom=custom)
    options = replace(write_options(call, "UpdateOptions", user, sent), now=now)
    if scale:
        edit = edit_scale(target.kind, lambda live: sent)
        return draft_patch(objects, target, edit, options), options
    return draft_update(objects, target, sent, options), options


def draft_update(
    objects: ObjectStore, target: ObjectRef, sent: Any, options: WriteOptions
) -> Draft:
    """An object in the place of the live one, or a new one of a kind that allows it; else 404."""
    draft = decode_draft(target, sent, options.field_validation)
    base = objects.get_or_none(target)
    if base is not None:
        return _draft_replacement(draft, base, options)
    if target.kind.strategy.update.allow_create_on_update and not target.subresource:
        return _draft_create_on_update(draft, options)
    warnings = draft.warnings + dedup_owner_references(draft.obj)
    raise not_found(target.kind.resource, target.name).with_warnings(*warnings)


def draft_server_update(
    objects: ObjectStore, target: ObjectRef, state: Edit, options: WriteOptions
) -> Draft:
    """The live object in a state that the server gives it: its content is known to be right."""
    base = objects.get(target)
    live = stored_json.unpack(target.kind, base)
    obj = state(live)
    author = FieldManager(options.manager, options.now, target.subresource)
    track_update(target.kind, live, obj, author)
    return Draft(target, obj, base=base, live=live)


def _draft_replacement(draft: Draft, base: StoredEntry, options: WriteOptions) -> Draft:
    target, obj = draft.target, draft.obj
    live = stored_json.unpack(target.kind, base)
    try:
        _check_replacement(target, obj, live)
        check_kind(target.kind, draft.sent_kind, target.name)
    except StatusError as error:
        raise error.with_warnings(*draft.warnings) from None
    warnings = draft.warnings + dedup_owner_references(obj)
    return change_object(replace(draft, warnings=warnings, base=base, live=live), options)


def _draft_create_on_update(draft: Draft, options: WriteOptions) -> Draft:
    """A new object, where an update found none; it may name a revision, and no uid."""
    metadata = draft.obj["metadata"]
    check_resource_version(metadata.pop("resourceVersion", None))
    _check_uid(draft.target, metadata.get("uid"), "")
    return begin_object(replace(draft, create_on_update=True), options)


def _check_replacement(target: ObjectRef, obj: JsonObject, live: JsonObject) -> None:
    sent = obj["metadata"]
    unconditional = not sent.get("resourceVersion")
    if unconditional and not target.kind.strategy.update.allow_unconditional_update:
        raise missing_resource_version(target.kind.resource, target.name)
    _check_uid(target, sent.get("uid"), live["metadata"]["uid"])


def _check_uid(target: ObjectRef, sent: str | None, live: str) -> None:
    """409 for a document that was made for another object of that name."""
    if not sent or sent == live:
        return
    kind = target.kind
    text = (
        f"StorageError: invalid object, Code: 4, Key: /registry/{kind.etcd_prefix}/"
        f"{target.key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
        f"UID in precondition: {sent}, UID in object meta: {live}"
    )
    raise conflict(kind.resource, target.name, text)
