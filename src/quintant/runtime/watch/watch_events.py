"""One line of a watch stream, understood.

Most lines are an event with an object that fits its type, so that is tried first, in one pass over
the bytes; only what fails is looked at again: a bookmark, an error, an object that does not fit.
A kind without objects costs nothing: its decoder is made when the first of them comes.
"""

from __future__ import annotations

from functools import cache
from typing import Generic

import msgspec

from quintant.core import codec
from quintant.core.errors import ApiError, Status, Undecodable, from_status
from quintant.core.object import K, ObjectMeta, Request, decode_hook
from quintant.core.resource import transform_of

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
# How servers begin a bookmark; one that begins otherwise is understood a little later.
_BOOKMARK = b'{"type":"BOOKMARK"'


class _Event(msgspec.Struct, Generic[K]):
    type: str
    object: K


class ChangedEvent(msgspec.Struct, Generic[K], frozen=True):
    """An object was added or modified, or is part of the initial state."""

    obj: K


class DeletedEvent(msgspec.Struct, Generic[K], frozen=True):
    """An object was deleted, or left the selection; carries its last state."""

    obj: K


class BookmarkEvent(msgspec.Struct, frozen=True):
    """Everything up to `version` has been sent; `initial` closes the initial state."""

    version: str
    initial: bool


class UndecodableEvent(msgspec.Struct, frozen=True):
    """An object that does not fit its type; its metadata could be read."""

    error: Undecodable
    meta: ObjectMeta
    deleted: bool


class ForeignEvent(msgspec.Struct, frozen=True):
    """An object that another member holds was changed or deleted; little of it was read."""

    key: Request
    controller: str
    """The uid of its controller; empty if it has none."""
    version: str
    deleted: bool


WatchEvent = ChangedEvent[K] | DeletedEvent[K] | BookmarkEvent | UndecodableEvent | ApiError


def parse_event(kind: type[K], line: bytes) -> WatchEvent[K]:
    """What a line says. Raises one of codec.BROKEN when it is not a watch event at all."""
    if line.startswith(_BOOKMARK):
        return _parse_rare(kind, line)
    try:
        event = _decoder(kind).decode(line)
        obj = event.object if transform_of(kind) is None else codec.transformed(kind, event.object)
    except codec.BROKEN:
        return _parse_rare(kind, line)
    # Types of optional fields fit nearly anything, a Status or a Table too: those have no name.
    if obj.metadata.name:
        if event.type in ("ADDED", "MODIFIED"):
            return ChangedEvent(obj)
        if event.type == "DELETED":
            return DeletedEvent(obj)
    return _parse_rare(kind, line)


def _parse_rare(kind: type[K], line: bytes) -> WatchEvent[K]:
    event = codec.decode_line(line)
    match event.type:
        case "ERROR":
            return from_status(msgspec.json.decode(event.object, type=Status))
        case "BOOKMARK":
            meta = codec.decode_meta(event.object)
            ended = meta.annotations.get(INITIAL_EVENTS_END) == "true"
            return BookmarkEvent(meta.resource_version, ended)
        case "ADDED" | "MODIFIED" | "DELETED":
            return _parse_object(kind, event.object, deleted=event.type == "DELETED")
        case _:
            raise msgspec.DecodeError(f"an event of unknown type {event.type!r}")


def _parse_object(kind: type[K], raw: msgspec.Raw, *, deleted: bool) -> WatchEvent[K]:
    meta = codec.decode_meta(raw)
    if not meta.name:
        raise msgspec.DecodeError("an event without an object's name")
    try:
        obj = codec.decode(kind, raw)
    except Undecodable as error:
        return UndecodableEvent(error, meta, deleted)
    return DeletedEvent(obj) if deleted else ChangedEvent(obj)


@cache
def _decoder(kind: type[K]) -> msgspec.json.Decoder[_Event[K]]:
    wire = codec.wire_type(kind)
    codec.relax_constraints(wire)
    return msgspec.json.Decoder(_Event[wire], dec_hook=decode_hook)  # type: ignore[valid-type]
