"""typeValidator, stringValidator, formatValidator: single values: type, format, length, enum.

Each function yields what has to be checked of a value of one sort, and nothing if the schema says
nothing about it: most values of most objects then cost one look-up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from quintant.cluster.apiserver.golang.printing import encoded
from quintant.cluster.apiserver.golang.regexp import matcher
from quintant.cluster.apiserver.meta import formats
from quintant.cluster.apiserver.meta.field_errors import (
    invalid,
    not_supported,
    too_long,
    type_invalid,
)
from quintant.core.errors import Cause

Schema = Mapping[str, Any]
Check = Callable[[Any, str, Any], Sequence[Cause]]
"""From a value, its path and the value it replaces to what is wrong with it."""
Part = Check

INT64 = (-(2**63), 2**63 - 1)
EXACT = 2.0**53 - 1
"""Floats beyond this may have lost whole numbers, so they count as none."""
EPSILON = 1e-9
"""How close to a whole number a float must be to count as one."""
_NOTHING: Sequence[Cause] = ()


class JsonType(Enum):
    """What a JSON value is, in a schema's words."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ARRAY = "array"
    OBJECT = "object"
    NULL = "null"


JSON_TYPES = {
    str: JsonType.STRING,
    int: JsonType.INTEGER,
    float: JsonType.NUMBER,
    bool: JsonType.BOOLEAN,
    list: JsonType.ARRAY,
    dict: JsonType.OBJECT,
    type(None): JsonType.NULL,
}
"""By the type that decoded JSON has."""
_GO = {JsonType.INTEGER: "int64", JsonType.NUMBER: "float64"}


def as_go_holds(value: Any) -> Any:
    """A value as Go holds it: whole numbers that 64 bits do not hold are floats."""
    if type(value) is int and not INT64[0] <= value <= INT64[1]:
        return float(value)
    return value


def in_body(path: str, text: str) -> str:
    return f"{path} in body {text}"


def types_of(schema: Schema) -> tuple[str, ...]:
    """The types a schema allows; none means any."""
    if schema.get("x-kubernetes-int-or-string"):
        return ("integer", "string")
    return (schema["type"],) if schema.get("type") else ()


def format_of(schema: Schema) -> str:
    """The format, if it means anything for the type."""
    name, types = schema.get("format") or "", types_of(schema)
    known = formats.recognized(types[0] if len(types) == 1 else "", name)
    return name if known else ""


def type_check(schema: Schema, sort: JsonType) -> Iterator[Part]:
    """Whether the type is right."""
    types, form = types_of(schema), format_of(schema)
    if sort is JsonType.NULL:
        if types and not schema.get("nullable"):
            yield _mistyped(",".join(types), sort.value)
        return
    if not types and not form:
        return
    if sort is JsonType.NUMBER and "integer" in types:
        yield _whole(_refusal(types, form, sort))
    elif refusal := _refusal(types, form, sort):
        yield refusal


def _refusal(types: tuple[str, ...], form: str, sort: JsonType) -> Part | None:
    numeric = "integer" in types or "number" in types
    fits = sort.value in types or (sort is JsonType.INTEGER and "number" in types)
    if sort in (JsonType.STRING, JsonType.ARRAY):
        if form and not numeric:
            return None
    elif form and not fits:
        return _mistyped(form, _GO.get(sort, ""))
    return None if fits else _mistyped(",".join(types), sort.value)


def _mistyped(wanted: str, received: str) -> Part:
    text = f'must be of type {wanted}: "{received}"'
    return lambda value, path, old: [type_invalid(path, received, in_body(path, text))]


def _whole(refusal: Part | None) -> Part:
    """The refusal, for floats that are no whole numbers."""

    def part(value: float, path: str, old: Any) -> Sequence[Cause]:
        return refusal(value, path, old) if refusal and not is_whole(value) else _NOTHING

    return part


def is_whole(value: float) -> bool:
    """Whether a float counts as a whole number."""
    if not math.isfinite(value) or abs(value) > EXACT:
        return False
    if value == int(value):
        return True
    return int(value) != 0 and abs(value - int(value)) / (abs(value) + abs(int(value))) < EPSILON


def text_check(schema: Schema) -> Iterator[Part]:
    """Length and pattern, of which only the first offence is told, then the format."""
    if any(schema.get(name) for name in ("maxLength", "minLength", "pattern")) or (
        schema.get("maxLength") == 0
    ):
        yield _text(schema)
    form = format_of(schema)
    check = formats.find("", form) if form else None
    if check is not None:
        yield _formatted(form, check)


def _text(schema: Schema) -> Part:
    most, least = schema.get("maxLength"), schema.get("minLength") or 0
    pattern = schema.get("pattern") or ""
    matches = matcher(pattern) if pattern else None

    def part(value: str, path: str, old: Any) -> Sequence[Cause]:
        if most is not None and len(value) > most:
            return [too_long(path, most)]
        if len(value) < least:
            short = f"should be at least {least} chars long"
            return [invalid(path, value, in_body(path, short))]
        if matches is not None and not matches(value):
            return [invalid(path, value, in_body(path, f"should match '{pattern}'"))]
        return _NOTHING

    return part


def _formatted(form: str, check: formats.Check) -> Part:
    def part(value: str, path: str, old: Any) -> Sequence[Cause]:
        if check(value):
            return _NOTHING
        message = in_body(path, f"must be of type {form}: {encoded(value)}")
        return [type_invalid(path, value, message)]

    return part


def enum_check(schema: Schema) -> Iterator[Part]:
    """Whether the value is among those enumerated."""
    choices = schema.get("enum")
    if not choices:
        return
    names = [choice if isinstance(choice, str) else encoded(choice) for choice in choices]

    def part(value: Any, path: str, old: Any) -> Sequence[Cause]:
        if any(_chosen(value, choice) for choice in choices):
            return _NOTHING
        return [not_supported(path, value, names)]

    yield part


def _chosen(value: Any, choice: Any) -> bool:
    """Equality as a real server sees it: a float is cut to a whole choice; null is never chosen."""
    if value is None or isinstance(value, bool) != isinstance(choice, bool):
        return False
    if isinstance(value, float) and isinstance(choice, int):
        return math.isfinite(value) and int(value) == choice
    return bool(value == choice)
