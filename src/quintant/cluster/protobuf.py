"""Protobuf bodies: what Go clients send for built-in kinds, as plain objects.

    magic | Unknown { typeMeta { apiVersion, kind }, raw }        raw is the kind's message

The result is the JSON that Go itself makes of the message. Structures that Go embeds are messages
of their own on the wire and flattened here; a value that is empty is left out unless Go writes it
anyway or the field is a pointer, where an explicit zero means something.

Whatever the bytes are, the answer is an object or `Malformed`.
"""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from math import isfinite
from typing import Any

import msgspec

from quintant.cluster.protowire import Malformed, Value, Wire, members, numbers, signed, tag
from quintant.cluster.quantities import canonical
from quintant.cluster.tables import Field, Message, Sort, Type
from quintant.runtime.clock import micro_timestamp, timestamp

MAGIC = b"k8s\x00"
DEPTH_LIMIT = 100
"""Messages inside each other: the schemas of real definitions need a third of it."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_TIME = datetime.min.replace(tzinfo=UTC)
_STRING_TYPE = 1
"""The IntOrString that is a string."""
_FIRST = tag(1, Wire.LENGTH)
_SECOND = tag(2, Wire.LENGTH)

Plain = dict[str, Any]
Reader = Callable[[Any, int], Any]
"""From a value on the wire and the depth it was met at to its JSON form."""
Step = Callable[[Plain, Any, int], None]
"""Puts a value on the wire, met at a depth, into an object."""


@dataclass(frozen=True, slots=True)
class Body:
    """What a body says it is, and the message it holds."""

    api_version: str
    kind: str
    raw: bytes

    def read(self, message: Message) -> Plain:
        """The object, read as a message; Malformed if it is none."""
        try:
            obj: Plain = _message(message, self.raw, 0)
        except (OverflowError, RecursionError, UnicodeDecodeError, msgspec.DecodeError) as error:
            raise Malformed(str(error)) from None
        return {"apiVersion": self.api_version, "kind": self.kind} | obj


def unwrap(data: bytes) -> Body:
    """Open a body's envelope."""
    if not data.startswith(MAGIC):
        prefix = " ".join(str(byte) for byte in MAGIC)
        raise Malformed(
            f"provided data does not appear to be a protobuf message, expected prefix [{prefix}]"
        )
    envelope = dict(members(data[len(MAGIC) :]))
    names = dict(members(_bytes(envelope.get(_FIRST, b""))))
    api_version, kind = _bytes(names.get(_FIRST, b"")), _bytes(names.get(_SECOND, b""))
    raw = _bytes(envelope.get(_SECOND, b""))
    try:
        return Body(api_version.decode(), kind.decode(), raw)
    except UnicodeDecodeError as error:
        raise Malformed(str(error)) from None


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a message is read: what to do with each tag, and what stands for what did not come."""

    steps: Mapping[int, Step]
    names: Mapping[int, str]
    """Of fields, by their numbers."""
    zeros: tuple[tuple[str, Type], ...]

    def into(self, obj: Plain, data: bytes, depth: int) -> None:
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

    def complete(self, obj: Plain) -> Plain:
        """Put in what did not come and Go writes anyway."""
        for name, kind in self.zeros:
            if name not in obj:
                obj[name] = kind.zero()
        return obj


@cache
def _plan(message: Message) -> _Plan:
    steps: dict[int, Step] = {}
    names: dict[int, str] = {}
    for field in message.declared:
        if field.number:
            names[field.number] = field.name
            steps |= _steps(field)
    always = [field for field in message.fields.values() if field.traits.always]
    return _Plan(steps, names, tuple((field.name, field.type) for field in always))


def _message(message: Message, data: bytes, depth: int) -> Any:
    obj: Plain = {}
    plan = _plan(message)
    plan.into(obj, data, depth)
    plan.complete(obj)
    return _chosen(obj) if message.union else obj


def _chosen(members: Plain) -> Any:
    """The member of a union that is set: a list before a schema, either before a boolean."""
    lists = [value for value in members.values() if isinstance(value, list)]
    if lists:
        return lists[0]
    schema = members.get("Schema")
    return members.get("Allows") if schema is None else schema


def _steps(field: Field) -> dict[int, Step]:
    kind = field.type
    if not field.name:
        return {tag(field.number, Wire.LENGTH): _flattened(kind)}
    if kind.sort is Sort.MAP:
        return {tag(field.number, Wire.LENGTH): _entry(field.name, kind.item)}
    if kind.sort is Sort.LIST:
        return _appending(field, kind.item)
    return {tag(field.number, _wire(kind)): _single(field)}


def _single(field: Field) -> Step:
    name, read = field.name, _reader(field.type)
    kept = field.type.pointer or field.traits.always
    zero = field.type.zero()

    def put(obj: Plain, value: Any, depth: int) -> None:
        found = read(value, depth)
        if kept or (found and found != zero):
            obj[name] = found
        else:
            obj.pop(name, None)

    return put


def _flattened(kind: Type) -> Step:
    return lambda obj, value, depth: _plan(kind.message).into(obj, value, depth + 1)


def _appending(field: Field, item: Type) -> dict[int, Step]:
    name, read, wire = field.name, _reader(item), _wire(item)

    def append(obj: Plain, value: Any, depth: int) -> None:
        obj.setdefault(name, []).append(read(value, depth))

    def extend(obj: Plain, value: Any, depth: int) -> None:
        for number in numbers(value):
            append(obj, number, depth)

    packed = {tag(field.number, Wire.LENGTH): extend} if wire is Wire.VARINT else {}
    return packed | {tag(field.number, wire): append}


def _entry(name: str, item: Type) -> Step:
    read, second = _reader(item), tag(2, _wire(item))
    absent = "" if item.sort is Sort.BYTES else None

    def put(obj: Plain, value: Any, depth: int) -> None:
        pair = dict(members(value))
        key, found = _text(pair.get(_FIRST, b"")), pair.get(second)
        entries = obj.setdefault(name, {})
        entries[key] = (absent or item.zero()) if found is None else read(found, depth)

    return put


def _wire(kind: Type) -> Wire:
    if kind.sort in _NUMBERS:
        return Wire.VARINT
    return Wire.FIXED64 if kind.sort is Sort.FLOAT else Wire.LENGTH


def _reader(kind: Type) -> Reader:
    if kind.sort is Sort.MESSAGE:
        return lambda value, depth: _message(kind.message, value, depth + 1)
    if kind.sort is Sort.BOX:
        read = _reader(kind.item)
        return lambda value, depth: (
            [read(item, depth) for key, item in members(value) if key == _FIRST] or None
        )
    return _LEAVES[kind.sort]


def _text(value: Value) -> str:
    return _bytes(value).decode()


def _bytes(value: Value) -> bytes:
    if isinstance(value, int):
        raise Malformed(f"expected bytes, got the number {value}")
    return value


def _number(found: Mapping[int, Value], number: int) -> int:
    value = found.get(tag(number, Wire.VARINT), 0)
    return value if isinstance(value, int) else 0


def _float(value: bytes, depth: int) -> float:
    (number,) = struct.unpack("<d", value)
    if not isfinite(number):
        raise Malformed(f"json: unsupported value: {number}")
    # Go writes a whole number without a fraction.
    return int(number) if number.is_integer() else float(number)


def _moment(value: bytes) -> tuple[datetime, int]:
    """A time's second, and the microseconds after it."""
    found = dict(members(value))
    moment = _EPOCH + timedelta(seconds=signed(_number(found, 1), 64))
    return moment, signed(_number(found, 2), 32) // 1000


def _time(value: bytes, depth: int) -> str | None:
    moment, _ = _moment(value)
    return timestamp(moment) if value and moment != _NO_TIME else None


def _micro_time(value: bytes, depth: int) -> str | None:
    moment, micros = _moment(value)
    moment += timedelta(microseconds=micros)
    return micro_timestamp(moment) if value and moment != _NO_TIME else None


def _quantity(value: bytes, depth: int) -> str:
    texts = [_text(text) for key, text in members(value) if key == _FIRST]
    try:
        return canonical(texts[-1]) if texts else "0"
    except ValueError as error:
        raise Malformed(str(error)) from None


def _int_or_string(value: bytes, depth: int) -> int | str:
    found = dict(members(value))
    if _number(found, 1) == _STRING_TYPE:
        return _text(found.get(tag(3, Wire.LENGTH), b""))
    return signed(_number(found, 2), 32)


def _json(value: bytes, depth: int) -> Any:
    text = dict(members(value)).get(_FIRST)
    return msgspec.json.decode(_bytes(text)) if text else None


_NUMBERS = frozenset({Sort.BOOL, Sort.INT32, Sort.INT64})
_LEAVES: Mapping[Sort, Reader] = {
    Sort.STRING: lambda value, depth: value.decode(),
    Sort.BOOL: lambda value, depth: value != 0,
    Sort.INT32: lambda value, depth: signed(value, 32),
    Sort.INT64: lambda value, depth: signed(value, 64),
    Sort.FLOAT: _float,
    Sort.BYTES: lambda value, depth: b64encode(value).decode(),
    Sort.TIME: _time,
    Sort.MICROTIME: _micro_time,
    Sort.QUANTITY: _quantity,
    Sort.INT_OR_STRING: _int_or_string,
    Sort.JSON: _json,
}
