"""Protobuf messages as frozen dataclasses: the field numbers stand beside the fields.

    @dataclass(frozen=True, slots=True)
    class JoinRequest(Message):
        address: Annotated[str, 1] = ""

A field is a string, bytes, a number that is not negative, another message, or a tuple of those
(not of numbers); absent means the default, and defaults are not written, as proto3 has it. What a
reader does not know it skips.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any, Self, get_type_hints

from quintant.wire.protobuf import Malformed, Value, Wire, members, tag, text, varint


class Message:
    """A message that can be written and read."""

    __slots__ = ()

    def encode(self) -> bytes:
        """The message as bytes; equal messages give equal bytes."""
        return b"".join(
            _written(number, getattr(self, name))
            for number, (name, _, default) in sorted(_fields(self).items())
            if getattr(self, name) != default
        )

    @classmethod
    def decode(cls, raw: bytes) -> Self:
        """The message that bytes hold; Malformed if they hold none."""
        layout = _fields(cls)
        found: dict[str, Any] = {}
        for key, value in members(raw):
            number, wire = key >> 3, key & 7
            if number in layout:
                name, kind, default = layout[number]
                read = _read(kind, wire, value)
                if default == ():
                    found.setdefault(name, []).append(read)
                else:
                    found[name] = read
        lists = {name: tuple(each) for name, each in found.items() if isinstance(each, list)}
        return cls(**found | lists)


def _fields(message: Message | type[Message]) -> dict[int, tuple[str, Any, Any]]:
    kind: Any = message if isinstance(message, type) else type(message)
    return _layout(kind)


@cache
def _layout(kind: Any) -> dict[int, tuple[str, Any, Any]]:
    """Name, type and default of each field, by number."""
    hints = get_type_hints(kind, include_extras=True)
    return {
        hints[each.name].__metadata__[0]: (each.name, _bare(hints[each.name]), each.default)
        for each in dataclasses.fields(kind)
    }


def _written(number: int, value: Any) -> bytes:
    if isinstance(value, tuple):
        return b"".join(_written(number, each) for each in value)
    if isinstance(value, int):
        return varint(tag(number, Wire.VARINT)) + varint(value)
    if isinstance(value, Message):
        value = value.encode()
    raw = value.encode() if isinstance(value, str) else value
    return varint(tag(number, Wire.LENGTH)) + varint(len(raw)) + raw


def _read(kind: type[Any], wire: int, value: Value) -> Any:
    if isinstance(value, int):
        if kind is int:
            return value
    elif wire == Wire.LENGTH:
        if kind is str:
            return text(value)
        if kind is bytes:
            return value
        if issubclass(kind, Message):
            return kind.decode(value)
    raise Malformed("proto: a field has the wrong form")


def _bare(annotated: Any) -> type[Any]:
    """The type itself of a field, which may be absent, or there several times."""
    kind = annotated.__origin__
    besides = (type(None), Ellipsis)
    options = [each for each in getattr(kind, "__args__", (kind,)) if each not in besides]
    bare: type[Any] = options[0]
    return bare
