"""protobuf.Serializer, runtime.Unknown: what Go clients send for built-in kinds, as plain objects.

    magic | Unknown { typeMeta { apiVersion, kind }, raw }        raw is the kind's message

The result is the JSON that Go itself makes of the message. Structures that Go embeds are messages
of their own on the wire and flattened here; a value that is empty is left out unless Go writes it
anyway or the field is a pointer, where an explicit zero means something.

Whatever the bytes are, the answer is an object or `Malformed`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from msgspec import Struct

from quintant.cluster.apiserver.codec.protobuf_scalars import LEAVES
from quintant.cluster.apiserver.go_types import FieldKind, FieldType, MessageField, MessageType
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.wire.protobuf import Malformed, Wire, bytes_in, members, numbers, tag, text

MAGIC = b"k8s\x00"
DEPTH_LIMIT = 100
"""Messages inside each other: the schemas of real definitions need a third of it."""

_FIRST = tag(1, Wire.LENGTH)

Reader = Callable[[Any, int], Any]
"""From a value on the wire and the depth it was met at to its JSON form."""
Step = Callable[[JsonObject, Any, int], None]
"""Puts a value on the wire, met at a depth, into an object."""


class Envelope(Struct, frozen=True):
    """What a body says it is, and the message it holds."""

    api_version: str
    kind: str
    raw: bytes

    def read(self, message: MessageType) -> JsonObject:
        """The object but for its kind, read as a message; Malformed if it is none."""
        obj: JsonObject = _message(message, self.raw, 0)
        return obj


def unwrap(data: bytes) -> Envelope:
    """Open a body's envelope; Malformed if there is none."""
    if not data.startswith(MAGIC):
        expected = f"expected prefix [{' '.join(map(str, MAGIC))}]"
        raise Malformed(
            f"provided data does not appear to be a protobuf message, {expected}"
            if data
            else "empty data"
        )
    if data == MAGIC:
        raise Malformed("empty body")
    envelope = dict(members(data[len(MAGIC) :]))
    type_meta = dict(members(bytes_in(envelope, 1)))
    return Envelope(
        text(bytes_in(type_meta, 1)), text(bytes_in(type_meta, 2)), bytes_in(envelope, 2)
    )


class _Plan(Struct, frozen=True):
    """How a message is read: what to do with each tag."""

    steps: Mapping[int, Step]
    names: Mapping[int, str]
    """Of fields, by their numbers."""

    def into(self, obj: JsonObject, data: bytes, depth: int) -> None:
        """Put what came into an object."""
        if depth > DEPTH_LIMIT:
            raise Malformed(f"messages are nested more than {DEPTH_LIMIT} deep")
        steps = self.steps
        for key, value in members(data):
            step = steps.get(key)
            if step is not None:
                step(obj, value, depth)
            elif key >> 3 in self.names:
                raise Malformed(
                    f"proto: wrong wireType = {key & 7} for field {self.names[key >> 3]}"
                )


@cache
def _plan(message: MessageType) -> _Plan:
    steps: dict[int, Step] = {}
    names: dict[int, str] = {}
    for field in message.declared:
        if field.number:
            names[field.number] = field.name
            steps |= _steps(field)
    return _Plan(steps, names)


def _message(message: MessageType, data: bytes, depth: int) -> Any:
    obj: JsonObject = {}
    _plan(message).into(obj, data, depth)
    for field in message.always:
        if field.name not in obj:
            obj[field.name] = field.type.zero()
    return _chosen(obj) if message.union else obj


def _chosen(members: JsonObject) -> Any:
    """The member of a union that is set: a list before a schema, either before a boolean."""
    lists = [value for value in members.values() if isinstance(value, list)]
    if lists:
        return lists[0]
    schema = members.get("Schema")
    return members.get("Allows") if schema is None else schema


def _steps(field: MessageField) -> dict[int, Step]:
    kind = field.type
    if not field.name:
        return {tag(field.number, Wire.LENGTH): _flattened(kind)}
    if kind.kind is FieldKind.MAP:
        return {tag(field.number, Wire.LENGTH): _entry(field.name, kind.item)}
    if kind.kind is FieldKind.LIST:
        return _appending(field, kind.item)
    return {tag(field.number, _wire(kind)): _single(field)}


def _single(field: MessageField) -> Step:
    name, read = field.name, _reader(field.type)
    kept = field.type.pointer or field.traits.always

    def put(obj: JsonObject, value: Any, depth: int) -> None:
        found = read(value, depth)
        if kept or found:
            obj[name] = found
        else:
            obj.pop(name, None)

    return put


def _flattened(kind: FieldType) -> Step:
    return lambda obj, value, depth: _plan(kind.message).into(obj, value, depth + 1)


def _appending(field: MessageField, item: FieldType) -> dict[int, Step]:
    name, read, wire = field.name, _reader(item), _wire(item)

    def append(obj: JsonObject, value: Any, depth: int) -> None:
        obj.setdefault(name, []).append(read(value, depth))

    def extend(obj: JsonObject, value: Any, depth: int) -> None:
        for number in numbers(value):
            append(obj, number, depth)

    packed = {tag(field.number, Wire.LENGTH): extend} if wire is Wire.VARINT else {}
    return packed | {tag(field.number, wire): append}


def _entry(name: str, item: FieldType) -> Step:
    read, second = _reader(item), tag(2, _wire(item))
    absent = "" if item.kind is FieldKind.BYTES else None

    def put(obj: JsonObject, value: Any, depth: int) -> None:
        pair = dict(members(value))
        key, found = text(bytes_in(pair, 1)), pair.get(second)
        entries = obj.setdefault(name, {})
        entries[key] = (absent or item.zero()) if found is None else read(found, depth)

    return put


def _wire(kind: FieldType) -> Wire:
    if kind.kind in (FieldKind.BOOL, FieldKind.INT32, FieldKind.INT64):
        return Wire.VARINT
    return Wire.FIXED64 if kind.kind is FieldKind.FLOAT else Wire.LENGTH


def _reader(kind: FieldType) -> Reader:
    if kind.kind is FieldKind.MESSAGE:
        return lambda value, depth: _message(kind.message, value, depth + 1)
    if kind.kind is FieldKind.BOX:
        read = _reader(kind.item)
        return lambda value, depth: (
            [read(item, depth) for key, item in members(value) if key == _FIRST] or None
        )
    leaf = LEAVES[kind.kind]
    return lambda value, depth: leaf(value)
