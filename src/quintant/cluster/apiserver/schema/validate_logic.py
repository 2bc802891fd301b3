"""schemaPropsValidator: combined schemas: anyOf, oneOf, allOf, not.

Where no alternative fits, a real server tells what is wrong with the one that fits best: the one
with most checks made, of equals the first. `check_count` counts as it counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.meta.field_errors import invalid
from quintant.cluster.apiserver.schema.validate_values import (
    JSON_TYPES,
    Check,
    JsonType,
    Part,
    Schema,
    as_go_holds,
    format_of,
    types_of,
)
from quintant.core.errors import Cause

_NOTHING: Sequence[Cause] = ()


class Compile(Protocol):
    """From a schema to its check."""

    def __call__(self, schema: Schema, *, nested: bool) -> Check: ...


def logic_checks(schema: Schema, sort: JsonType, compiled: Compile) -> Iterator[Part]:
    """What the combinations in a schema ask for."""
    for name, build in (("anyOf", _any), ("oneOf", _one), ("allOf", _all)):
        if alternatives := schema.get(name):
            yield build(alternatives, [compiled(each, nested=True) for each in alternatives])
    if schema.get("not") is not None:
        yield _not(compiled(schema["not"], nested=True))


def _any(schemas: Sequence[Schema], checks: Sequence[Check]) -> Part:
    def part(value: Any, path: str, old: Any) -> Sequence[Cause]:
        results = []
        for check in checks:
            found = check(value, path, old)
            if not found:
                return _NOTHING
            results.append(found)
        text = f"{quoted(path)} must validate at least one schema (anyOf)"
        return [_whole(text), *_best(schemas, results, value)]

    return part


def _one(schemas: Sequence[Schema], checks: Sequence[Check]) -> Part:
    def part(value: Any, path: str, old: Any) -> Sequence[Cause]:
        results = [check(value, path, old) for check in checks]
        fitting = sum(1 for found in results if not found)
        if fitting == 1:
            return _NOTHING
        count = f"Found {fitting} valid alternatives" if fitting else "Found none valid"
        text = f"{quoted(path)} must validate one and only one schema (oneOf). {count}"
        return [_whole(text), *(() if fitting else _best(schemas, results, value))]

    return part


def _all(schemas: Sequence[Schema], checks: Sequence[Check]) -> Part:
    def part(value: Any, path: str, old: Any) -> Sequence[Cause]:
        results = [check(value, path, old) for check in checks]
        failed = [cause for found in results for cause in found]
        if not failed:
            return _NOTHING
        none = "" if any(not found for found in results) else ". None validated"
        text = f"{quoted(path)} must validate all the schemas (allOf){none}"
        return [*failed, _whole(text)]

    return part


def _not(check: Check) -> Part:
    def part(value: Any, path: str, old: Any) -> Sequence[Cause]:
        if check(value, path, old):
            return _NOTHING
        return [_whole(f"{quoted(path)} must not validate the schema (not)")]

    return part


def _whole(text: str) -> Cause:
    return invalid("", "", text)


def _best(
    schemas: Sequence[Schema], results: Sequence[Sequence[Cause]], value: Any
) -> Sequence[Cause]:
    weights = [check_count(schema, value) for schema in schemas]
    return results[weights.index(max(weights))]


def check_count(schema: Schema, value: Any) -> int:
    """How many checks a real server makes of a value."""
    value = as_go_holds(value)
    sort = JSON_TYPES[type(value)]
    fits = sort.value in types_of(schema) or (
        sort is JsonType.INTEGER and "number" in types_of(schema)
    )
    if sort is JsonType.NULL:
        return 1 if schema.get("nullable") or not types_of(schema) else 0
    # One each for logic, enumeration and the schema itself, one more for logic's own result.
    total = 4 + sum(check_count(each, value) for each in schema.get("allOf") or ())
    if types_of(schema) or format_of(schema):
        total += 2 if fits else 1
    return total + _SORTED.get(sort, _flat)(schema, value)


def _flat(schema: Schema, value: Any) -> int:
    return 0


def _text(schema: Schema, value: Any) -> int:
    return 2 if format_of(schema) else 1


def _number(schema: Schema, value: Any) -> int:
    return 2


def _array(schema: Schema, value: list[Any]) -> int:
    items = schema.get("items")
    return 2 + (sum(check_count(items, item) for item in value) if items else 0)


def _object(schema: Schema, value: dict[str, Any]) -> int:
    properties = schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    rest = additional if isinstance(additional, dict) else None
    below = ((properties.get(name, rest), child) for name, child in value.items())
    return 1 + sum(check_count(found, child) for found, child in below if found is not None)


_SORTED: dict[JsonType, Callable[[Schema, Any], int]] = {
    JsonType.STRING: _text,
    JsonType.INTEGER: _number,
    JsonType.NUMBER: _number,
    JsonType.ARRAY: _array,
    JsonType.OBJECT: _object,
}
