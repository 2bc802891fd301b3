"""What Kubernetes' built-in kinds are made of: every field, in JSON and on the wire.

A kind is a message, a message has fields, a field has a type. The facts are generated from
Kubernetes itself (`make tables`) into kubernetes.jsonl, one line per message, and follow the
release named there. A line is decoded when somebody first asks for its message, so that a process
pays for the kinds it serves; what was decoded is shared and never changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

_DATA = Path(__file__).with_name("kubernetes.jsonl")


class FieldKind(Enum):
    """What a value is; the text is the generated table's own."""

    STRING = "string"
    BOOL = "bool"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT = "float64"
    BYTES = "bytes"
    TIME = "time"
    MICROTIME = "microtime"
    QUANTITY = "quantity"
    INT_OR_STRING = "intorstring"
    JSON = "json"
    """Any JSON value, which protobuf carries as text."""
    MESSAGE = "message"
    LIST = "[]"
    MAP = "{}"
    BOX = "()"
    """A list that is a message of its own on the wire."""


class FieldType(Struct, frozen=True):
    """The type of a field, or of the items of a list or map."""

    kind: FieldKind
    pointer: bool = False
    """It can be absent although its value would be empty: an explicit zero is kept."""
    name: str = ""
    """Of a message; what Go calls a plain type that has a name there."""
    of: FieldType | None = None
    """What a list or map holds."""

    @property
    def message(self) -> MessageType:
        return message(self.name)

    @property
    def item(self) -> FieldType:
        assert self.of is not None, "only lists and maps have items"
        return self.of

    def zero(self) -> Any:
        """What Go writes to JSON when nothing was set."""
        if self.pointer:
            return None
        return self.message.zero() if self.kind is FieldKind.MESSAGE else _ZEROS.get(self.kind)


_ZEROS: Mapping[FieldKind, Any] = {
    FieldKind.STRING: "",
    FieldKind.BOOL: False,
    FieldKind.INT32: 0,
    FieldKind.INT64: 0,
    FieldKind.FLOAT: 0,
    FieldKind.QUANTITY: "0",
    FieldKind.INT_OR_STRING: 0,
}


class FieldTraits(msgspec.Struct, frozen=True):
    """What there is to know about a field beside its name, number and type."""

    always: bool = False
    """Written to JSON even when it is empty."""
    required: bool = False
    atomic: bool = False
    """A map that is one value to server-side apply."""
    list: str = "atomic"
    """How server-side apply merges a list: atomic, set or map."""
    keys: tuple[str, ...] = ()
    """What tells the items of a map-like list apart."""
    strategy: str = ""
    """How strategic merge treats it: merge, replace, retainKeys, or two of them."""
    merge: str = ""
    """What strategic merge tells a list's items apart by."""
    default: Any = None
    enum: tuple[str, ...] = ()


class MessageField(Struct, frozen=True):
    """A field of a message; without a name it is a message flattened into this one in JSON."""

    name: str
    number: int
    """On the wire; 0 if it is not there."""
    type: FieldType
    traits: FieldTraits


class MessageType(Struct, frozen=True, eq=False):
    """A structure: what it declares, and its fields as JSON has them."""

    name: str
    declared: tuple[MessageField, ...]
    fields: Mapping[str, MessageField]
    """By JSON name, those of flattened messages included."""
    always: tuple[MessageField, ...]
    """Those that Go writes to JSON even when they are empty."""
    atomic: bool = False
    """One value to server-side apply."""
    union: bool = False
    """Its JSON form is that of whichever member is set."""

    def zero(self) -> Any:
        """The JSON that Go makes of an empty one, fresh."""
        if self.union:
            return False if "Allows" in self.fields else None
        return {field.name: field.type.zero() for field in self.always}


def find(api_version: str, kind: str) -> MessageType | None:
    """The message of a kind, if it is a built-in one."""
    name = _index().kinds.get(f"{api_version}/{kind}")
    return None if name is None else message(name)


def kinds() -> tuple[tuple[str, str], ...]:
    """Every kind of the table: its apiVersion and name."""
    return tuple((label.rpartition("/")[0], label.rpartition("/")[2]) for label in _index().kinds)


def release() -> str:
    """The release of Kubernetes that the table follows."""
    return _index().release


@cache
def message(name: str) -> MessageType:
    """A message by its name, such as core.v1.Pod."""
    row = _decode_row(_index().lines[name])
    declared = tuple(
        MessageField(col.name, col.number, _type(col.type), col.traits) for col in row.fields
    )
    fields: dict[str, MessageField] = {}
    for field in declared:
        fields |= {field.name: field} if field.name else field.type.message.fields
    always = tuple(field for field in fields.values() if field.traits.always)
    atomic, union = row.trait == "atomic", row.trait == "union"
    return MessageType(name, declared, fields, always, atomic=atomic, union=union)


class _Column(msgspec.Struct, frozen=True, array_like=True):
    name: str
    number: int
    type: str
    traits: FieldTraits = FieldTraits()


class _Row(msgspec.Struct, frozen=True, array_like=True):
    name: str
    fields: list[_Column]
    trait: str = ""


class _Header(msgspec.Struct, frozen=True):
    kubernetes: str
    kinds: dict[str, str]


class _Index(Struct, frozen=True):
    release: str
    kinds: Mapping[str, str]
    lines: Mapping[str, bytes]


_decode_row = msgspec.json.Decoder(_Row).decode


@cache
def _index() -> _Index:
    head, *lines = _DATA.read_bytes().splitlines()
    header = msgspec.json.decode(head, type=_Header)
    # Every line is a list that begins with the name: it is found without decoding the rest.
    return _Index(
        header.kubernetes,
        header.kinds,
        {line[2 : line.index(b'"', 2)].decode(): line for line in lines},
    )


@cache
def _type(text: str) -> FieldType:
    if text[0] == "*":
        return replace(_type(text[1:]), pointer=True)
    if text[:2] in (FieldKind.LIST.value, FieldKind.MAP.value, FieldKind.BOX.value):
        return FieldType(FieldKind(text[:2]), of=_type(text[2:]))
    sort, _, name = text.partition(" ")
    return (
        FieldType(FieldKind.MESSAGE, name=sort)
        if "." in sort
        else FieldType(FieldKind(sort), name=name)
    )
