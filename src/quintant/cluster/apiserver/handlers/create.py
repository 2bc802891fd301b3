"""createHandler: the body of a POST becomes the draft of a new object.

In the order of a real server: decode (quintant.cluster.apiserver.codec.decode), check its kind,
wipe what only the server sets, default, track field ownership. Nothing is stored here, so a write
can be drafted again when another write was faster.
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
from quintant.cluster.apiserver.handlers.store import ObjectStore
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.kinds.metadata_rules import (
    dedup_owner_references,
    wipe_system_metadata,
)
from quintant.cluster.apiserver.meta.user import User


def read_create_request(
    objects: ObjectStore, call: ApiRequest, target: ObjectRef, user: User, now: str
) -> tuple[Draft, WriteOptions]:
    """The draft that a POST asks for at a time, and its options."""
    sent = read_object(call.headers, call.body, target.kind.resource, custom=target.kind.custom)
    options = replace(write_options(call, "CreateOptions", user, sent), now=now)
    return draft_create(target, sent, options), options


def draft_create(target: ObjectRef, sent: Any, options: WriteOptions) -> Draft:
    """A new object."""
    draft = decode_draft(target, sent, options.field_validation)
    version = draft.obj["metadata"].pop("resourceVersion", "0")
    has_resource_version = version.isdecimal() and int(version) > 0
    return begin_object(replace(draft, has_resource_version=has_resource_version), options)


def begin_object(draft: Draft, options: WriteOptions) -> Draft:
    """A decoded draft as a new object: with defaults and its first owner, in place."""
    kind, obj = draft.target.kind, draft.obj
    check_kind(kind, draft.sent_kind, obj["metadata"].get("name", ""))
    wipe_system_metadata(obj)
    warnings = draft.warnings + dedup_owner_references(obj)
    kind.default(obj)
    author = FieldManager(options.manager, options.now, draft.target.subresource)
    track_update(kind, None, obj, author)
    return replace(draft, warnings=warnings)
