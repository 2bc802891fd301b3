"""Structural schemas at work: unknown fields go, defaults come.

A custom resource is pruned and defaulted whenever it is written, and when it is read if its schema
changed since. What a value must look like beyond its structure is validation's business, not ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

Schema = Mapping[str, Any]
_OBJECT = frozenset({"apiVersion", "kind", "metadata"})
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"


def pruner(schema: Schema) -> Callable[[dict[str, Any]], list[str]]:
    """What prunes a whole object, in place, and tells the paths of what was unknown."""
    root = {**schema, _EMBEDDED: True}
    return lambda obj: list(prune(obj, root))


def prune(value: Any, schema: Schema, path: str = "") -> Iterator[str]:
    """Drop, in place, fields a schema does not know, and yield their paths.

    Nulls where the schema allows none go silently.
    """
    if isinstance(value, list):
        for at, item in enumerate(value):
            yield from prune(item, schema.get("items") or {}, f"{path}[{at}]")
    elif isinstance(value, dict):
        for name in [*value]:
            if schema.get(_EMBEDDED) and name in _OBJECT:
                continue
            where = f"{path}.{name}" if path else name
            below = _below(schema, name)
            if below is None:
                del value[name]
                yield where
            elif _unwanted(value[name], below):
                del value[name]
            else:
                yield from prune(value[name], below, where)


def default(value: Any, schema: Schema) -> None:
    """Put defaults, in place, where a schema has them and the value has nothing."""
    if isinstance(value, list):
        for item in value:
            default(item, schema.get("items") or {})
        return
    if not isinstance(value, dict):
        return
    properties = schema.get("properties") or {}
    for name, below in properties.items():
        if "default" in below and _lacks(value, name, below):
            value[name] = msgspec.json.decode(msgspec.json.encode(below["default"]))
    for name, child in value.items():
        default(child, _below(schema, name) or {})


def _below(schema: Schema, name: str) -> Schema | None:
    """The schema of a field; None when it is unknown and not to be kept."""
    found: Schema | None = (schema.get("properties") or {}).get(name)
    if found is not None:
        return found
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        return additional
    kept = additional is True or schema.get(_PRESERVE)
    return _ANYTHING if kept else None


_ANYTHING: Schema = {_PRESERVE: True, "nullable": True, "items": {_PRESERVE: True}}


def _unwanted(value: Any, schema: Schema) -> bool:
    return value is None and not schema.get("nullable") and "default" not in schema


def _lacks(value: Mapping[str, Any], name: str, schema: Schema) -> bool:
    return name not in value or (value[name] is None and not schema.get("nullable"))
