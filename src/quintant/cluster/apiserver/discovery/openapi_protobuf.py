"""kube-openapi ToProtoBinary: OpenAPI v2 as protobuf (gnostic), as far as clients read it.

A message is written from a document's mapping by a table: the name of each member, its number, and
how its value is written. Members that a table does not know are left out, but for extensions
(`x-…`), which every table has a number for; their values travel as text.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from quintant.wire.protobuf import NUMBER_BITS, Wire, tag, varint

OpenApi = Mapping[str, Any]
Writer = Callable[[int, Any], bytes]
"""From a number and a value to a member of a message."""
Table = Mapping[str, tuple[int, Writer]]

_EXTENSION = "x-"
_NAME, _VALUE = 1, 2
"""The numbers of a pair, which is what a mapping is a list of."""
_TEXT_OF_ANY = 2


def encode_openapi(document: OpenApi) -> bytes:
    """A document as bytes."""
    return _fields(_DOCUMENT, document)


def _fields(table: Table, value: OpenApi) -> bytes:
    found = [write(number, value[name]) for name, (number, write) in table.items() if name in value]
    if _EXTENSION in table:
        number, write = table[_EXTENSION]
        found += [
            _sized(number, _text(_NAME, name) + write(_VALUE, value[name]))
            for name in value
            if name.startswith(_EXTENSION)
        ]
    return b"".join(found)


def _sized(number: int, raw: bytes) -> bytes:
    return varint(tag(number, Wire.LENGTH)) + varint(len(raw)) + raw


def _text(number: int, value: str) -> bytes:
    return _sized(number, value.encode())


def _flag(number: int, value: bool) -> bytes:
    return varint(tag(number, Wire.VARINT)) + varint(int(value))


def _count(number: int, value: int) -> bytes:
    return varint(tag(number, Wire.VARINT)) + varint(int(value) % (1 << NUMBER_BITS))


def _double(number: int, value: float) -> bytes:
    return varint(tag(number, Wire.FIXED64)) + struct.pack("<d", value)


def _any(number: int, value: Any) -> bytes:
    return _sized(number, _text(_TEXT_OF_ANY, msgspec.json.encode(value).decode()))


def _each(write: Writer) -> Writer:
    def writes(number: int, values: Sequence[Any]) -> bytes:
        return b"".join(write(number, value) for value in values)

    return writes


def _inside(number: int, write: Writer) -> Writer:
    """A message around a member: gnostic has one for every choice, list and mapping."""
    return lambda outer, value: _sized(outer, write(number, value))


def _pairs(write: Writer) -> Writer:
    def writes(number: int, values: OpenApi) -> bytes:
        return b"".join(
            _sized(number, _text(_NAME, name) + write(_VALUE, value))
            for name, value in values.items()
        )

    return writes


def _schema(number: int, value: OpenApi) -> bytes:
    return _sized(number, _fields(_SCHEMA, value))


def _additional(number: int, value: OpenApi | bool) -> bytes:
    return _sized(number, _flag(2, value) if isinstance(value, bool) else _schema(1, value))


def _parameter(number: int, value: OpenApi) -> bytes:
    """A parameter in its choices: the body, or one of those that are in the query."""
    if value["in"] == "body":
        return _sized(number, _sized(1, _sized(1, _fields(_BODY, value))))
    return _sized(number, _sized(1, _sized(2, _sized(3, _fields(_QUERY, value)))))


def _response(number: int, value: OpenApi) -> bytes:
    return _sized(number, _sized(1, _fields(_RESPONSE, value)))


def _operation(number: int, value: OpenApi) -> bytes:
    return _sized(number, _fields(_OPERATION, value))


def _path(number: int, value: OpenApi) -> bytes:
    return _sized(number, _fields(_PATH, value))


def _info(number: int, value: OpenApi) -> bytes:
    return _sized(number, _fields({"title": (1, _text), "version": (2, _text)}, value))


def _docs(number: int, value: OpenApi) -> bytes:
    return _sized(number, _fields({"description": (1, _text), "url": (2, _text)}, value))


_SCHEMA: Table = {
    "$ref": (1, _text),
    "format": (2, _text),
    "title": (3, _text),
    "description": (4, _text),
    "multipleOf": (6, _double),
    "maximum": (7, _double),
    "exclusiveMaximum": (8, _flag),
    "minimum": (9, _double),
    "exclusiveMinimum": (10, _flag),
    "maxLength": (11, _count),
    "minLength": (12, _count),
    "pattern": (13, _text),
    "maxItems": (14, _count),
    "minItems": (15, _count),
    "uniqueItems": (16, _flag),
    "maxProperties": (17, _count),
    "minProperties": (18, _count),
    "required": (19, _each(_text)),
    "enum": (20, _each(_any)),
    "additionalProperties": (21, _additional),
    "type": (22, _inside(1, _text)),
    "items": (23, _inside(1, _schema)),
    "properties": (25, _inside(1, _pairs(_schema))),
    "externalDocs": (29, _docs),
    "example": (30, _any),
    _EXTENSION: (31, _any),
}
_BODY: Table = {
    "name": (2, _text),
    "in": (3, _text),
    "required": (4, _flag),
    "schema": (5, _schema),
}
_QUERY: Table = {
    "in": (2, _text),
    "name": (4, _text),
    "type": (6, _text),
    "uniqueItems": (20, _flag),
}
_RESPONSE: Table = {"description": (1, _text), "schema": (2, _inside(1, _schema))}
_OPERATION: Table = {
    "produces": (6, _each(_text)),
    "consumes": (7, _each(_text)),
    "parameters": (8, _each(_parameter)),
    "responses": (9, _inside(1, _pairs(_response))),
    _EXTENSION: (13, _any),
}
_PATH: Table = {
    "get": (2, _operation),
    "put": (3, _operation),
    "post": (4, _operation),
    "delete": (5, _operation),
    "patch": (8, _operation),
}
_DOCUMENT: Table = {
    "swagger": (1, _text),
    "info": (2, _info),
    "paths": (8, _inside(2, _pairs(_path))),
    "definitions": (9, _inside(1, _pairs(_schema))),
}
