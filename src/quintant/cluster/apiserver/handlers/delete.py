"""Deletions: options, preconditions, finalizers, grace.

An object with finalizers is only marked; whoever removes the last finalizer removes the object
(quintant.cluster.apiserver.handlers.write). Dependents are a garbage collector's work: here an
owner only gets the finalizer that asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver import tables
from quintant.cluster.apiserver.codec.body import read_object
from quintant.cluster.apiserver.codec.list_options import whole_number
from quintant.cluster.apiserver.handlers.store import ObjectStore
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kinds.metadata_rules import deleting, has_finalizers
from quintant.cluster.apiserver.meta.field_errors import invalid, invalid_options, not_supported
from quintant.cluster.apiserver.meta.status import StatusError, bad_request
from quintant.cluster.apiserver.meta.types import DeletionPropagation, JsonObject
from quintant.cluster.apiserver.meta.user import SERVER, User
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.tables.coerce import CoercionError, coerce
from quintant.core.clock import Clock, timestamp
from quintant.core.resource import Resource

FINALIZERS = {
    DeletionPropagation.FOREGROUND: "foregroundDeletion",
    DeletionPropagation.ORPHAN: "orphan",
}
DEFAULT_GRACE_SECONDS = 30
"""A pod's grace when its spec does not say."""
_DOCUMENT = Resource("", "v1", "DeleteOptions", "")
_FINISHED = ("Succeeded", "Failed")


class DeleteOptions(msgspec.Struct, frozen=True):
    """DeleteOptions, understood."""

    grace: int | None = None
    propagation: DeletionPropagation | None = None
    uid: str = ""
    rv: str = ""
    dry_run: bool = False
    user: User = SERVER
    raw: Mapping[str, Any] = {}
    """The options in the client's own words, for webhooks."""
    silent: bool = False
    """Nothing was said about dependents."""
    accepted: bool = False
    """The legacy orphanDependents=false was sent: what cannot go at once is answered with 202."""


class DeleteResult(msgspec.Struct, frozen=True):
    """What a deletion came to: the object's last state, and whether it is gone."""

    entry: StoredEntry
    gone: bool
    warnings: tuple[str, ...] = ()
    rv: int = 0
    """The revision of the end, if there was one."""


def read_delete_request(call: ApiRequest, user: User) -> DeleteOptions:
    """What a request says of the deletion that it asks for."""
    sent = read_object(call.headers, call.body, _DOCUMENT) if call.body else None
    if isinstance(sent, dict):
        try:
            coerce(tables.message("meta.v1.DeleteOptions"), sent)
        except CoercionError as error:
            raise bad_request(str(error)) from None
    return read_delete_options(sent, call.query, user)


def read_delete_options(body: Any, query: Mapping[str, str], user: User) -> DeleteOptions:
    """DeleteOptions from a body or, without one, from the query: never from both."""
    if body is None:
        body = {name: _typed(query[name]) for name in _QUERY if name in query}
        body |= {"dryRun": [query["dryRun"]]} if "dryRun" in query else {}
        if _GRACE in query:
            body[_GRACE] = whole_number(query, _GRACE)
    if not isinstance(body, dict):
        raise bad_request("the body is not a DeleteOptions document")
    conditions = body.get("preconditions") or {}
    dry_run = body.get("dryRun") or []
    _check_dry_run(dry_run)
    return DeleteOptions(
        grace=body.get(_GRACE),
        propagation=_propagation(body),
        uid=conditions.get("uid") or "",
        rv=conditions.get("resourceVersion") or "",
        dry_run=bool(dry_run),
        user=user,
        raw={name: body[name] for name in _SAID if body.get(name) is not None},
        silent=body.get("propagationPolicy") is None and body.get("orphanDependents") is None,
        accepted=body.get("orphanDependents") is False,
    )


class Deletes:
    """The delete path of every kind."""

    def __init__(self, stored: ObjectStore, clock: Clock) -> None:
        self._stored = stored
        self._clock = clock

    def delete(self, target: ObjectRef, options: DeleteOptions = DeleteOptions()) -> DeleteResult:
        """Remove an object, or mark it while finalizers or grace hold it; 404 if there is none."""
        entry = self._stored.get(target)
        obj = stored_json.unpack(target.kind, entry)
        check_preconditions(target, obj, options)
        marked = self._marked(target.kind, obj, options)
        if options.dry_run:
            gone = not has_finalizers(target.kind, marked)
            unmarked = gone and not target.kind.strategy.delete.graceful
            last = entry if unmarked else stored_json.pack(target.kind, marked, entry.rv)
            return DeleteResult(last, gone=gone)
        if not has_finalizers(target.kind, marked):
            if target.kind.strategy.delete.graceful and not deleting(obj):
                entry = self._stored.put(target, marked)
            return DeleteResult(entry, gone=True, rv=self._stored.remove(target))
        return DeleteResult(
            entry if marked == obj else self._stored.put(target, marked), gone=False
        )

    def needs_admission(self, target: ObjectRef, options: DeleteOptions) -> bool:
        """Whether a deletion is one to ask webhooks about: preconditions hold, and it is news."""
        obj = stored_json.unpack(target.kind, self._stored.get(target))
        check_preconditions(target, obj, options)
        graceful = target.kind.strategy.delete.graceful
        return not (graceful and self._marked(target.kind, obj, options) == obj)

    def _marked(self, kind: Kind, obj: JsonObject, options: DeleteOptions) -> JsonObject:
        """The object as deletion leaves it while something holds it."""
        metadata = _with_finalizers(kind, dict(obj["metadata"]), options)
        grace = _grace(kind, obj, options)
        if deleting(obj) and grace >= metadata.get("deletionGracePeriodSeconds", 0):
            return {**obj, "metadata": metadata}
        metadata["deletionTimestamp"] = timestamp(self._clock.now() + timedelta(seconds=grace))
        if (on_delete := kind.strategy.delete.on_delete) is not None:
            marked = {**obj, "metadata": metadata}
            on_delete(marked, metadata["deletionTimestamp"])
            return marked
        metadata["deletionGracePeriodSeconds"] = grace
        if metadata.get("generation") and not deleting(obj):
            metadata["generation"] += 1
        return {**obj, "metadata": metadata}


_CHOICES = ("Foreground", "Background", "Orphan", "nil")
_GRACE = "gracePeriodSeconds"
_SAID = (_GRACE, "preconditions", "orphanDependents", "propagationPolicy", "dryRun")
_QUERY = ("propagationPolicy", "orphanDependents")


def _typed(text: str) -> Any:
    return text == "true" if text in ("true", "false") else text


def _check_dry_run(values: list[str]) -> None:
    for value in values:
        if value != "All":
            raise invalid_options("DeleteOptions", not_supported("dryRun", values, ["All"]))


def _propagation(body: Mapping[str, Any]) -> DeletionPropagation | None:
    policy, orphan = body.get("propagationPolicy"), body.get("orphanDependents")
    if policy is not None and orphan is not None:
        complaint = invalid(
            "propagationPolicy",
            policy,
            "orphanDependents and deletionPropagation cannot be both set",
        )
        raise invalid_options("DeleteOptions", complaint)
    if orphan is not None:
        return DeletionPropagation.ORPHAN if orphan else DeletionPropagation.BACKGROUND
    if policy is None:
        return None
    try:
        return DeletionPropagation(policy)
    except ValueError:
        complaint = not_supported("propagationPolicy", policy, _CHOICES)
        raise invalid_options("DeleteOptions", complaint) from None


def check_preconditions(target: ObjectRef, obj: JsonObject, options: DeleteOptions) -> None:
    """Refuse to delete what is not the object that was meant: 409."""
    metadata = obj["metadata"]
    for asked, name, word, perhaps in (
        (options.uid, "uid", "UID", "deleted and then recreated"),
        (options.rv, "resourceVersion", "ResourceVersion", "modified"),
    ):
        if asked and asked != metadata[name]:
            raise _failed(
                target,
                f"the {word} in the precondition ({asked}) does not match the {word} in record "
                f"({metadata[name]}). The object might have been {perhaps}",
            )


def _failed(target: ObjectRef, message: str) -> StatusError:
    where = target.kind.resource
    kind = f"{where.kind}.{where.group}" if where.group else where.kind
    text = f'Operation cannot be fulfilled on {kind} "{target.name}": {message}'
    details = {"name": target.name, "group": where.group, "kind": where.kind}
    return StatusError(
        409, "Conflict", text, {key: value for key, value in details.items() if value}
    )


def _with_finalizers(kind: Kind, metadata: JsonObject, options: DeleteOptions) -> JsonObject:
    """Metadata with the finalizer that the propagation asks for, and not the other one."""
    if kind.strategy.delete.default_propagation is None:
        return metadata
    asked = (
        options.propagation or _asked_before(metadata) or kind.strategy.delete.default_propagation
    )
    ours = set(FINALIZERS.values())
    rest = [name for name in metadata.get("finalizers") or [] if name not in ours]
    finalizers = rest + ([FINALIZERS[asked]] if asked in FINALIZERS else [])
    if finalizers:
        metadata["finalizers"] = finalizers
    else:
        metadata.pop("finalizers", None)
    return metadata


def _asked_before(metadata: JsonObject) -> DeletionPropagation | None:
    present = metadata.get("finalizers") or []
    for propagation, finalizer in FINALIZERS.items():
        if finalizer in present:
            return propagation
    return None


def _grace(kind: Kind, obj: JsonObject, options: DeleteOptions) -> int:
    if not kind.strategy.delete.graceful:
        return 0
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    if not spec.get("nodeName") or status.get("phase") in _FINISHED:
        return 0
    default = spec.get("terminationGracePeriodSeconds", DEFAULT_GRACE_SECONDS)
    grace = default if options.grace is None else options.grace
    return 1 if grace < 0 else int(grace)
