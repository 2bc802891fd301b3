"""SchemaDeclType, UnstructuredToVal: from schemas to CEL types, and from JSON to values of them.

Fields are known by names that expressions can spell: `a-b` is `a__dash__b`. What a schema does not
describe cannot be seen by a rule, though it may be there.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from math import inf
from typing import Any

from quintant.cluster.apiserver.cel.types import (
    ANY,
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    INT,
    LIST,
    MAP,
    OBJECT,
    STRING,
    TIMESTAMP,
    CelType,
    list_of,
    map_of,
)
from quintant.cluster.apiserver.cel.values import parse_duration, parse_timestamp
from quintant.cluster.apiserver.meta.formats import loose_duration
from quintant.cluster.apiserver.meta.status import REQUEST_LIMIT

Schema = Mapping[str, Any]

RESERVED = frozenset(
    {
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for"),
        *("function", "if", "import", "let", "loop", "package", "namespace", "return", "var"),
        *("void", "while"),
    }
)
_ESCAPES = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_ESCAPED = re.compile(r"__|[-./]")
_ESCAPABLE = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*")
# How long the JSON of these formats is: the shortest and the longest text, quotes included.
_DATE = (12, 12)
_MOMENT = (21, 32)
_SPAN = (3, 32)
_KEY = CelType(STRING.name, most=0, least=2)
"""The key of a map: a real server's estimate has no size for it."""
_META: Schema = {
    "kind": {"type": "string"},
    "apiVersion": {"type": "string"},
    "metadata": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}},
    },
}


def escape(name: str) -> str:
    """The name of a field in expressions; empty if it has none."""
    if name in RESERVED:
        return f"__{name}__"
    if not _ESCAPABLE.fullmatch(name):
        return ""
    return _ESCAPED.sub(lambda match: _ESCAPES[match[0]], name)


def declare(schema: Schema, *, root: bool = False, name: str = OBJECT) -> CelType | None:
    """The type of what a schema describes; None if rules cannot see it."""
    if schema.get("x-kubernetes-int-or-string"):
        return CelType(ANY.name, most=_characters(schema), least=1)
    match schema.get("type"):
        case "array":
            return _array(schema, name)
        case "object":
            return _object(schema, root, name)
        case "string":
            return _string(schema)
        case "boolean":
            return CelType(BOOL.name, most=0, least=4)
        case "number":
            return CelType(DOUBLE.name, most=0)
        case "integer":
            return CelType(INT.name, most=0)
    return None


def convert(value: Any, wanted: CelType | None) -> Any:
    """A JSON value as an expression sees it."""
    if wanted is None or value is None:
        return value
    match wanted.name:
        case "double" if isinstance(value, int):
            return _double(value)
        case "bytes" | "timestamp" | "duration" if isinstance(value, str):
            return _READERS[wanted.name](value)
        case "list" if isinstance(value, list):
            return [convert(item, wanted.item) for item in value]
        case "map" if isinstance(value, dict):
            return {key: convert(item, wanted.item) for key, item in value.items()}
    if wanted.fields and isinstance(value, dict):
        return dict(_members(value, wanted.fields))
    return {} if wanted.name not in _PLAIN and isinstance(value, dict) else value


_PLAIN = frozenset({"dyn", LIST, MAP})


def _members(value: dict[str, Any], fields: Mapping[str, CelType]) -> Iterator[tuple[str, Any]]:
    for name, child in value.items():
        escaped = escape(name)
        if escaped in fields:
            yield escaped, convert(child, fields[escaped])


def _array(schema: Schema, name: str) -> CelType | None:
    items = schema.get("items")
    item = declare(items, root=_embedded(items), name=f"{name}.@idx") if items else None
    if item is None:
        return None
    most = schema.get("maxItems")
    return list_of(item, (REQUEST_LIMIT - 2) // (item.least + 1) if most is None else max(most, 0))


def _object(schema: Schema, root: bool, name: str) -> CelType | None:
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        value = declare(additional, root=_embedded(additional), name=f"{name}.@elem")
        if value is None:
            return None
        most = schema.get("maxProperties")
        fits = (REQUEST_LIMIT - 2) // (value.least + 6)
        return map_of(_KEY, value, fits if most is None else max(most, 0))
    properties = {**(schema.get("properties") or {}), **(_META if root else {})}
    if root and _complete(schema.get("properties") or {}):
        properties = schema["properties"]
    required, fields, least = set(schema.get("required") or ()), {}, 2
    for field, below in properties.items():
        found = declare(below, root=_embedded(below), name=f"{name}.{field}")
        if found is None:
            continue
        if escaped := escape(field):
            fields[escaped] = found
        if field in required and below.get("default") is None:
            least += len(field) + found.least + 4
    return CelType(name, fields=fields, most=0, least=least)


def _complete(properties: Schema) -> bool:
    """Whether a schema itself says what the metadata of a resource has."""
    metadata = (properties.get("metadata") or {}).get("properties") or {}
    return {"kind", "apiVersion", "metadata"} <= properties.keys() and {
        "name",
        "generateName",
    } <= metadata.keys()


def _string(schema: Schema) -> CelType:
    match schema.get("format"):
        case "byte":
            most = schema.get("maxLength")
            return CelType(BYTES.name, most=_characters(schema) if most is None else most, least=2)
        case "duration":
            return CelType(DURATION.name, least=_SPAN[0], most=_SPAN[1])
        case "date":
            return CelType(TIMESTAMP.name, least=_DATE[0], most=_DATE[1])
        case "date-time":
            return CelType(TIMESTAMP.name, least=_MOMENT[0], most=_MOMENT[1])
    return CelType(STRING.name, most=_characters(schema), least=2)


def _characters(schema: Schema) -> int:
    """How long a text can be: a character may take four bytes."""
    most = schema.get("maxLength")
    if most is not None:
        return max(0, int(most)) * 4
    choices = [each for each in schema.get("enum") or () if isinstance(each, str)]
    if choices and schema.get("type") == "string":
        return max(len(each.encode()) for each in choices)
    return REQUEST_LIMIT - 2


def _embedded(schema: Schema) -> bool:
    return bool(schema.get("x-kubernetes-embedded-resource"))


def _double(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def _bytes(text: str) -> bytes:
    try:
        return b64decode(text)
    except (Error, ValueError):
        return text.encode()


def _moment(text: str) -> datetime | str:
    """A moment or a day; what is beyond our calendar is at its end, what is none stays a text."""
    whole = text if "T" in text.upper() else f"{text}T00:00:00Z"
    if found := parse_timestamp(whole):
        return found
    edges = {"0000": datetime.min, "0001": datetime.min, "9999": datetime.max}
    edge = edges.get(text[:4])
    return text if edge is None else edge.replace(tzinfo=UTC)


def _span(text: str) -> timedelta | str:
    """A duration, as Go or as people write it; what is none stays a text."""
    found = parse_duration(text)
    if found is not None:
        return found
    nanoseconds = loose_duration(text)
    return text if nanoseconds is None else timedelta(microseconds=nanoseconds / 1000)


_READERS = {"bytes": _bytes, "timestamp": _moment, "duration": _span}
