"""Requests that write: what a body asks for, as a draft and the options beside it.

Between the verbs of a resource (quintant.cluster.apiserver.handlers.verbs) and the write path
(quintant.cluster.apiserver.handlers.write): the body is read as what it says it is, a patch becomes
an edit of the live object, and a scale becomes an edit of what is scaled. Nothing is stored here,
so a write can be drafted again when somebody else was faster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver import tables
from quintant.cluster.apiserver.codec.body import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    read_object,
    read_patch,
)
from quintant.cluster.apiserver.codec.write_options import WriteOptions, check_force, write_options
from quintant.cluster.apiserver.handlers.scale import DOCUMENT, SCALE, edit_scale
from quintant.cluster.apiserver.handlers.write import Writes
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.meta.status import bad_request, method_not_supported
from quintant.cluster.apiserver.meta.types import Edit, JsonObject
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.patch.json_patch import apply_patch
from quintant.cluster.apiserver.patch.merge_patch import merge_patch
from quintant.cluster.apiserver.patch.strategic_patch import strategic_patch
from quintant.core.resource import Resource

DraftPlan = Callable[[ApiRequest, ObjectRef, User, str], tuple[Draft, WriteOptions]]
"""Makes the draft that a request of a user asks for, at a time."""


class WriteRequests(msgspec.Struct, frozen=True):
    """Drafts what is to be created, replaced, patched or applied."""

    writes: Writes

    def plan(self, verb: str) -> DraftPlan:
        """How the changes of a verb are drafted; 405 if it changes nothing."""
        known = {"create": self._create, "update": self._update, "patch": self._patch}
        if verb not in known:
            raise method_not_supported()
        return known[verb]

    def _create(
        self, call: ApiRequest, target: ObjectRef, user: User, now: str
    ) -> tuple[Draft, WriteOptions]:
        sent = _sent(call, target)
        options = replace(write_options(call, "CreateOptions", user, sent), now=now)
        return self.writes.draft_create(target, sent, options), options

    def _update(
        self, call: ApiRequest, target: ObjectRef, user: User, now: str
    ) -> tuple[Draft, WriteOptions]:
        sent = _sent(call, target)
        options = replace(write_options(call, "UpdateOptions", user, sent), now=now)
        if target.subresource == SCALE:
            edit = edit_scale(target.kind, lambda scale: sent)
            return self.writes.draft_patch(target, edit, options), options
        return self.writes.draft_update(target, sent, options), options

    def _patch(
        self, call: ApiRequest, target: ObjectRef, user: User, now: str
    ) -> tuple[Draft, WriteOptions]:
        media, sent = read_patch(call.headers, call.body, custom=target.kind.custom)
        options = replace(write_options(call, "PatchOptions", user, sent), now=now)
        check_force(call.query, media)
        if media == APPLY_PATCH:
            return self.writes.draft_apply(target, sent, options), options
        edit = _editor(media, sent, target)
        if target.subresource == SCALE:
            edit = edit_scale(target.kind, edit, patch=True)
        return self.writes.draft_patch(target, edit, options), options


def _sent(call: ApiRequest, target: ObjectRef) -> Any:
    custom = target.kind.custom and target.subresource != SCALE
    return read_object(call.headers, call.body, _document(target), custom=custom)


def _editor(media: str, sent: Any, target: ObjectRef) -> Edit:
    """What a patch does to the live document."""
    if media == JSON_PATCH:
        return lambda live: apply_patch(live, sent)
    if not isinstance(sent, dict):
        raise bad_request("Invalid JSON Patch")
    if media == MERGE_PATCH:
        return lambda live: merge_patch(live, sent)
    wanted = _document(target)
    message = tables.find(wanted.api_version, wanted.kind)
    assert message is not None, "strategic patches are read for built-in kinds alone"
    # Such a patch is merged field by field into a Scale; what it calls itself is not looked at.
    merged = sent if target.subresource != SCALE else _without_type(sent)
    return lambda live: strategic_patch(live, merged, message)


def _without_type(sent: JsonObject) -> JsonObject:
    return {name: value for name, value in sent.items() if name not in ("kind", "apiVersion")}


def _document(target: ObjectRef) -> Resource:
    """What the bodies of requests about a target are."""
    return DOCUMENT if target.subresource == SCALE else target.kind.resource
