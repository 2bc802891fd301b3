"""PatchResource: a patch becomes an edit of the live object, and that a draft.

The media type says which patch it is: a JSON patch, a merge patch, a strategic merge patch, or a
configuration to apply (quintant.cluster.apiserver.handlers.apply). A patch of a Scale becomes an
edit of what is scaled.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver import go_types
from quintant.cluster.apiserver.codec.body import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    read_patch,
)
from quintant.cluster.apiserver.codec.decode import decode, match_namespace, patched_object
from quintant.cluster.apiserver.codec.write_options import WriteOptions, check_force, write_options
from quintant.cluster.apiserver.fieldmanager.managers import FieldManager
from quintant.cluster.apiserver.fieldmanager.update import track_update
from quintant.cluster.apiserver.handlers.apply import draft_apply
from quintant.cluster.apiserver.handlers.scale import DOCUMENT, SCALE, edit_scale, track_scale
from quintant.cluster.apiserver.handlers.store import ObjectStore
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.meta.status import bad_request
from quintant.cluster.apiserver.meta.types import Edit, JsonObject
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.patch.json_patch import apply_patch
from quintant.cluster.apiserver.patch.merge_patch import merge_patch
from quintant.cluster.apiserver.patch.strategic_patch import strategic_patch


def read_patch_request(
    objects: ObjectStore, call: ApiRequest, target: ObjectRef, user: User, now: str
) -> tuple[Draft, WriteOptions]:
    """The draft that a PATCH asks for at a time, and its options."""
    media, sent = read_patch(call.headers, call.body, custom=target.kind.custom)
    options = replace(write_options(call, "PatchOptions", user, sent), now=now)
    check_force(call.query, media)
    if media == APPLY_PATCH:
        return draft_apply(objects, target, sent, options), options
    edit = patch_edit(media, sent, target)
    return draft_patch(objects, target, edit, options), options


def draft_patch(
    objects: ObjectStore, target: ObjectRef, edit: Edit, options: WriteOptions
) -> Draft:
    """What `edit` makes of the live object; 404 if there is none."""
    base, field_validation = objects.get(target), options.field_validation
    live = stored_json.unpack(target.kind, base)
    changed = edit(stored_json.unpack(target.kind, base))
    obj = patched_object(target.kind, changed, field_validation)
    warnings = decode(target.kind, obj, field_validation, patch=True)
    match_namespace(target, obj, warnings)
    return change_object(Draft(target, obj, warnings, base, live), options)


def change_object(draft: Draft, options: WriteOptions) -> Draft:
    """The draft of a change with defaults and the owners of its fields, in place."""
    target, obj, live = draft.target, draft.obj, draft.live
    assert live is not None, "a change has something to change"
    author = FieldManager(options.manager, options.now, target.subresource)
    if target.subresource == SCALE:
        track_scale(target.kind, live, obj, author)
    else:
        target.kind.default(obj)
        track_update(target.kind, live, obj, author)
    return draft


def patch_edit(media: str, sent: Any, target: ObjectRef) -> Edit:
    """What a patch of a media type does to the live object; 400 if it is no patch."""
    edit = _document_edit(media, sent, target)
    return edit_scale(target.kind, edit, patch=True) if target.subresource == SCALE else edit


def _document_edit(media: str, sent: Any, target: ObjectRef) -> Edit:
    """What a patch does to the live document: the object, or its Scale."""
    if media == JSON_PATCH:
        return lambda live: apply_patch(live, sent)
    if not isinstance(sent, dict):
        raise bad_request("Invalid JSON Patch")
    if media == MERGE_PATCH:
        return lambda live: merge_patch(live, sent)
    document = DOCUMENT if target.subresource == SCALE else target.kind.resource
    message = go_types.find(document.api_version, document.kind)
    assert message is not None, "strategic patches are read for built-in kinds alone"
    # Such a patch is merged field by field into a Scale; what it calls itself is not looked at.
    merged = sent if target.subresource != SCALE else _without_type(sent)
    return lambda live: strategic_patch(live, merged, message)


def _without_type(sent: JsonObject) -> JsonObject:
    return {name: value for name, value in sent.items() if name not in ("kind", "apiVersion")}
