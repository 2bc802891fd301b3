"""OpenAPI v2 as protobuf: every member that a schema may have, by its number and form."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from quintant.cluster.apiserver.discovery.openapi_protobuf import encode_openapi
from quintant.wire.protobuf import Wire, members, tag


def schema(value: Any) -> list[tuple[int, Any]]:
    """The members of a schema, as they are written into a document."""
    found = encode_openapi({"definitions": {"A": value}})
    for number in (9, 1, 2):
        (found,) = (
            each
            for key, each in members(found)
            if key == tag(number, Wire.LENGTH) and isinstance(each, bytes)
        )
    return list(members(found))


@pytest.mark.parametrize(
    ("value", "number", "wire", "raw"),
    [
        ({"$ref": "#/definitions/B"}, 1, Wire.LENGTH, b"#/definitions/B"),
        ({"minimum": -1}, 9, Wire.FIXED64, struct.pack("<d", -1)),
        ({"exclusiveMinimum": True}, 10, Wire.VARINT, 1),
        ({"maxLength": 300}, 11, Wire.VARINT, 300),
        ({"enum": ["a"]}, 20, Wire.LENGTH, b'\x12\x03"a"'),
        ({"additionalProperties": True}, 21, Wire.LENGTH, b"\x10\x01"),
        ({"type": "string"}, 22, Wire.LENGTH, b"\x0a\x06string"),
        ({"externalDocs": {"url": "u"}}, 29, Wire.LENGTH, b"\x12\x01u"),
        ({"x-a": [1]}, 31, Wire.LENGTH, b"\x0a\x03x-a\x12\x05\x12\x03[1]"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_a_member_is_written_by_its_number(
    value: dict[str, Any], number: int, wire: Wire, raw: Any
) -> None:
    assert schema(value) == [(tag(number, wire), raw)]


def test_what_has_no_number_is_left_out() -> None:
    assert schema({"unheard": 1, "title": "t"}) == [(tag(3, Wire.LENGTH), b"t")]


def test_parameters_are_written_by_where_they_are() -> None:
    body = {"name": "body", "in": "body", "required": True}
    asked = {"name": "dryRun", "in": "query", "type": "string"}
    raw = encode_openapi({"paths": {"/a": {"post": {"parameters": [body, asked]}}}})
    assert b"\x12\x04body\x1a\x04body\x20\x01" in raw
    assert b"\x12\x05query\x22\x06dryRun\x32\x06string" in raw
