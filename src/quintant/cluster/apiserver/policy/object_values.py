"""ObjectVal: the values that expressions make for a patch, as JSON.

The type of a part of an object has to be called by its path, `Object.spec.template`, which is all
that is checked of it here; the schema of the kind decides about the rest.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from quintant.cluster.apiserver.cel.values import OpaqueValue, Optional, kind_of
from quintant.cluster.apiserver.golang.printing import quoted


def type_name_errors(value: Any) -> Iterator[str]:
    """CheckTypeNamesMatchFieldPathNames: the parts of an object that are called wrongly."""
    if isinstance(value, OpaqueValue):
        yield from _misnamed(value, value.type)


def _misnamed(value: Any, expected: str) -> Iterator[str]:
    if isinstance(value, OpaqueValue):
        if value.type != expected:
            yield (
                f"unexpected type name {quoted(value.type)}, expected {quoted(expected)}, "
                "which matches field name path from root Object type"
            )
        for name, child in value.value.items() if isinstance(value.value, dict) else ():
            yield from _misnamed(child, f"{expected}.{name}")
    elif isinstance(value, list | dict):
        for child in value.values() if isinstance(value, dict) else value:
            yield from _misnamed(child, expected)


def json_value(value: Any) -> Any:
    """A value of an expression as JSON; ValueError if it has no such form."""
    match value:
        case None | bool() | str():
            return value
        case int():
            return int(value)
        case float():
            return int(value) if value.is_integer() else value
        case list():
            return [json_value(each) for each in value]
        case dict():
            return {_key(key): json_value(each) for key, each in value.items()}
        case OpaqueValue(value=dict(fields)):
            return {name: json_value(each) for name, each in fields.items()}
        case bytes():
            return b64encode(value).decode()
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case timedelta():
            return f"{value.total_seconds():g}s"
        case Optional(present=True, value=inner):
            return json_value(inner)
    raise ValueError(f"unsupported value of type {kind_of(value)}")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise ValueError(f"map key {quoted(str(key))} is of type {kind_of(key)}, not string")
    return key
