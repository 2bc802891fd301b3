"""ValidateCustomResource, SchemaValidator: a schema becomes closures once; every write runs them.

A check is called with a value, its path and the value it replaces; it answers with causes, in the
order and the words of a real server. What is wrong but was so before, at the same place, is let
through: a stricter schema must not block changes elsewhere in an object.

    compiled(schema) ──► per type of value: type, logic, text, format, bounds, items, enum, fields
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quintant.cluster.apiserver.meta.correlate import ABSENT, MapListKeys, unchanged
from quintant.cluster.apiserver.meta.field_errors import (
    ERRORS_BYTES,
    NO_FIELD,
    invalid,
    required,
    too_many,
)
from quintant.cluster.apiserver.schema import validate_values as values
from quintant.cluster.apiserver.schema.validate_logic import logic_checks
from quintant.cluster.apiserver.schema.validate_numbers import number_check
from quintant.cluster.apiserver.schema.validate_values import (
    INT64,
    JSON_TYPES,
    Check,
    JsonType,
    Part,
    Schema,
    in_body,
)
from quintant.core.errors import Cause

_NOTHING: Sequence[Cause] = ()
_NO_FIELDS: Mapping[str, Any] = {}
# Of an object as a whole these are the same before and after, whatever was stored.
_HIDDEN = frozenset({"apiVersion", "kind"})


class SchemaValidator:
    """What tells whether a value fits a schema; a whole object is never taken as unchanged."""

    def __init__(self, schema: Schema, *, whole: bool = False) -> None:
        self._check = compiled(schema, nested=whole)

    def __call__(self, value: Any, old: Any = ABSENT, prefix: str = "") -> list[Cause]:
        """The causes, each once; their fields are below `prefix`."""
        found = self._check(value, "", old)
        return [_placed(cause, prefix) for cause in dict.fromkeys(found)]


def compiled(schema: Schema, *, nested: bool = False) -> Check:
    """The check of a schema.

    One of a whole object, and one nested in a logical combination, lets no old errors through.
    """
    parts = _Parts(schema)

    def check(value: Any, path: str, old: Any) -> Sequence[Cause]:
        found_type = type(value)
        if found_type is int and not INT64[0] <= value <= INT64[1]:
            value, found_type = float(value), float
        chosen = parts[found_type]
        if not chosen:
            return _NOTHING
        found: list[Cause] = []
        for part in chosen:
            found += part(value, path, old)
        if found and not nested and old is not ABSENT and unchanged(value, old, schema):
            return _NOTHING
        return found

    return check


class _Parts(dict[type, tuple[Part, ...]]):
    """What has to be checked, by the type of the value; made when one first comes."""

    def __init__(self, schema: Schema) -> None:
        super().__init__()
        self._schema = schema

    def __missing__(self, python_type: type) -> tuple[Part, ...]:
        self[python_type] = tuple(_parts(self._schema, JSON_TYPES[python_type]))
        return self[python_type]


def _parts(schema: Schema, sort: JsonType) -> Iterator[Part]:
    """What has to be checked of a value of a sort, in a real server's order."""
    yield from values.type_check(schema, sort)
    if sort is not JsonType.NULL:
        yield from logic_checks(schema, sort, compiled)
    if sort is JsonType.STRING:
        yield from values.text_check(schema)
    elif sort in (JsonType.INTEGER, JsonType.NUMBER):
        yield from number_check(schema, sort)
    elif sort is JsonType.ARRAY:
        yield from _array(schema)
    yield from values.enum_check(schema)
    if sort is JsonType.OBJECT:
        yield from _object(schema)


def _array(schema: Schema) -> Iterator[Part]:
    items = schema.get("items")
    if items:
        yield _items(compiled(items), MapListKeys.of(schema))
    yield from _sized(schema, "items")


def _sized(schema: Schema, what: str) -> Iterator[Part]:
    """How many items or properties there may be."""
    least, most = (schema.get(f"{limit}{what.capitalize()}") for limit in ("min", "max"))
    if least is not None:
        text = f"should have at least {least} {what}"
        yield (
            lambda value, path, old: (
                [invalid(path, len(value), in_body(path, text))] if len(value) < least else _NOTHING
            )
        )
    if most is not None:
        yield (
            lambda value, path, old: (
                [too_many(path, len(value), most)] if len(value) > most else _NOTHING
            )
        )


def _items(check: Check, keyed: MapListKeys | None) -> Part:
    def part(value: list[Any], path: str, old: Any) -> Sequence[Cause]:
        found: list[Cause] = []
        message_bytes = 0
        known = keyed.index(old) if keyed is not None and old is not ABSENT else None
        for at, item in enumerate(value):
            before = known.get(keyed.key(item), ABSENT) if known and keyed else ABSENT
            complaints = check(item, f"{path}[{at}]", before)
            found += complaints
            message_bytes += sum(len(cause.message) for cause in complaints)
            if message_bytes > ERRORS_BYTES:
                break
        return found

    return part


def _object(schema: Schema) -> Iterator[Part]:
    yield from _sized(schema, "properties")
    yield from _fields(schema)
    if names := schema.get("required"):
        yield lambda value, path, old: [
            required(f"{path}.{name}") for name in names if name not in value
        ]


def _fields(schema: Schema) -> Iterator[Part]:
    properties: Mapping[str, Schema] = schema.get("properties") or {}
    known = {name: compiled(below) for name, below in properties.items()}
    additional = schema.get("additionalProperties")
    if additional is False:
        yield lambda value, path, old: [
            invalid(path, name, f"{path}.{name} in body is a forbidden property")
            for name in value
            if name not in known
        ]
    rest = compiled(additional) if isinstance(additional, dict) else None
    if known or rest is not None:
        yield _field_part(known, rest)


def _field_part(known: Mapping[str, Check], rest: Check | None) -> Part:
    def part(value: dict[str, Any], path: str, old: Any) -> Sequence[Cause]:
        found: list[Cause] = []
        before = old if type(old) is dict else _NO_FIELDS
        for name, child in value.items():
            check = known.get(name, rest)
            if check is not None:
                field_path = f"{path}.{name}" if path or name not in known else name
                hidden = not path and name in _HIDDEN
                found += check(child, field_path, ABSENT if hidden else before.get(name, ABSENT))
        return found

    return part


def _placed(cause: Cause, prefix: str) -> Cause:
    """A cause at its place in the whole object."""
    path = cause.field.removeprefix(".")
    field = f"{prefix}.{path}" if prefix and path else prefix or path
    return Cause(cause.reason, cause.message, field or NO_FIELD)
