"""One line of a watch stream, understood.

Most lines are an event with an object that fits its type, so that is tried first, in one pass over
the bytes; only what fails is looked at again: a bookmark, an error, an object that does not fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Generic

import msgspec

from quintant.runtime import codec
from quintant.runtime.errors import ApiError, Status, Undecodable, from_status
from quintant.runtime.object import K, ObjectMeta, decode_hook

INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class _Event(msgspec.Struct, Generic[K]):
    type: str
    object: K


@dataclass(frozen=True, slots=True)
class Changed(Generic[K]):
    """An object was added or modified, or is part of the initial state."""

    obj: K


@dataclass(frozen=True, slots=True)
class Deleted(Generic[K]):
    """An object was deleted, or left the selection; carries its last state."""

    obj: K


@dataclass(frozen=True, slots=True)
class Bookmark:
    """Everything up to `version` has been sent; `initial` closes the initial state."""

    version: str
    initial: bool


@dataclass(frozen=True, slots=True)
class Misfit:
    """An object that does not fit its type; its metadata could be read."""

    error: Undecodable
    meta: ObjectMeta
    deleted: bool


Frame = Changed[K] | Deleted[K] | Bookmark | Misfit | ApiError


def parse(kind: type[K], line: bytes) -> Frame[K]:
    """What a line says. Raises msgspec.DecodeError when it is not a watch event at all."""
    try:
        event = _decoder(kind).decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _parse_rare(kind, line)
    if event.type == "DELETED":
        return Deleted(event.object)
    if event.type in ("ADDED", "MODIFIED"):
        return Changed(event.object)
    return _parse_rare(kind, line)


def _parse_rare(kind: type[K], line: bytes) -> Frame[K]:
    event = codec.decode_line(line)
    if event.type == "ERROR":
        return from_status(msgspec.json.decode(event.object, type=Status))
    meta = codec.decode_meta(event.object)
    if event.type == "BOOKMARK":
        ended = meta.annotations.get(INITIAL_EVENTS_END) == "true"
        return Bookmark(meta.resource_version, ended)
    if not meta.name:
        raise msgspec.DecodeError("an event without an object's name")
    try:
        obj = codec.decode(kind, event.object)
    except Undecodable as error:
        return Misfit(error, meta, event.type == "DELETED")
    return Changed(obj)


@cache
def _decoder(kind: type[K]) -> msgspec.json.Decoder[_Event[K]]:
    codec.relax(kind)
    return msgspec.json.Decoder(_Event[kind], dec_hook=decode_hook)  # type: ignore[valid-type]
