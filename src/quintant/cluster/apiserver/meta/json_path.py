"""JSONPath: simple paths in definitions, `.spec.a['b.c']`, and what they reach in a schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

Schema = Mapping[str, Any]
_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'?|[.\[\]]|[^.\[\]]+", re.DOTALL)
_ESCAPES = {
    **dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True)),
    "'": "'",
    "\\": "\\",
}


class BadPath(ValueError):
    """A path leads nowhere; the text says why."""


class FieldPath(Struct, frozen=True):
    """A path and what it leads to."""

    text: str
    root: str
    """The first field on it."""
    schema: Schema


def field_path(path: str, schema: Schema, *, brackets: bool = True) -> FieldPath:
    """Follow a path through a schema; BadPath if that cannot be done."""
    tokens = iter(_TOKEN.findall(path))
    text, root = "", ""
    for token in tokens:
        if token not in (".", "["):
            raise BadPath(f"expected [ or . but got: {token}")
        if token == "[" and not brackets:
            raise BadPath("array notation is not allowed")
        name = next(tokens, None)
        if name is None:
            raise BadPath("unexpected end of JSON path")
        if token == "[":
            name = _quoted(name)
        schema, named = _step(schema, name)
        text += (f".{name}" if text else name) if named else f"[{name}]"
        root = root or name
        if token == "[":
            _closed(next(tokens, None))
    return FieldPath(text, root, schema)


def _step(schema: Schema, name: str) -> tuple[Schema, bool]:
    """What is below a schema, and whether it is a field and not a key."""
    properties = schema.get("properties")
    if properties:
        if name not in properties:
            raise BadPath("does not refer to a valid field")
        return properties[name], True
    additional = schema.get("additionalProperties")
    if additional is None:
        raise BadPath("does not refer to a valid field")
    return additional if isinstance(additional, dict) else {}, False


def _quoted(token: str) -> str:
    if len(token) < 2 or token[0] != "'" or token[-1] != "'":
        raise BadPath(f"expected single quoted string but got {token}")
    return re.sub(r"\\(.)", _unescaped, token[1:-1])


def _unescaped(match: re.Match[str]) -> str:
    if match[1] not in _ESCAPES:
        raise BadPath(f"invalid string literal: invalid escape char {match[0]}")
    return _ESCAPES[match[1]]


def _closed(token: str | None) -> None:
    if token is None:
        raise BadPath("unexpected end of JSON path")
    if token != "]":
        raise BadPath(f"expected ] but got {token}")
