"""x-kubernetes-list-type, ValidateListSetsAndMaps: items of sets and maps, in schema and value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from quintant.cluster.apiserver.meta.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from quintant.cluster.apiserver.schema.prune import StructuralSchema
from quintant.core.errors import Cause

Schema = Mapping[str, Any]
LIST_TYPE = "x-kubernetes-list-type"
MAP_TYPE = "x-kubernetes-map-type"
KEYS = "x-kubernetes-list-map-keys"
_CHOICES = ("atomic", "set", "map")
_KEY = "this property is in x-kubernetes-list-map-keys"
_sorted = msgspec.json.Encoder(order="sorted")


def validate_list_type(schema: Schema, path: str) -> Iterator[Cause]:
    """What is wrong with how a schema says that items are told apart."""
    listing, keys = schema.get(LIST_TYPE), schema.get(KEYS) or ()
    found = schema.get("type") or ""
    if listing is not None and found != "array":
        text = "must be array if x-kubernetes-list-type is specified"
        field_path = f"{path}.type"
        yield invalid(field_path, found, text) if found else required(field_path, text)
    elif listing == "set" and isinstance(schema.get("items"), dict):
        yield from _set(schema["items"], f"{path}.items")
    if listing is not None and listing not in _CHOICES:
        yield not_supported(f"{path}.{LIST_TYPE}", listing, _CHOICES)
    if keys and listing != "map":
        text = "must be map if x-kubernetes-list-map-keys is non-empty"
        field_path = f"{path}.{LIST_TYPE}"
        yield required(field_path, text) if listing is None else invalid(field_path, listing, text)
    if listing == "map":
        yield from _map(schema, path)
    if listing in ("set", "map") and isinstance(schema.get("items"), dict):
        yield from _present(schema, listing, f"{path}.items")


def _set(items: Schema, path: str) -> Iterator[Cause]:
    """The items of a set are one value each."""
    text = "must be atomic as item of a list with x-kubernetes-list-type=set"
    if items.get("type") == "array" and items.get(LIST_TYPE, "atomic") != "atomic":
        yield invalid(f"{path}.{LIST_TYPE}", items[LIST_TYPE], text)
    elif items.get("type") == "object" and items.get(MAP_TYPE) != "atomic":
        yield invalid(f"{path}.{MAP_TYPE}", items.get(LIST_TYPE), text)


def _map(schema: Schema, path: str) -> Iterator[Cause]:
    keys, items = schema.get(KEYS) or (), schema.get("items")
    if not keys:
        text = "must not be empty if x-kubernetes-list-type is map"
        yield required(f"{path}.{KEYS}", text)
    if items is None:
        text = "must have a schema if x-kubernetes-list-type is map"
        yield required(f"{path}.items", text)
    elif isinstance(items, dict):
        if items.get("type") != "object":
            text = "must be object if parent array's x-kubernetes-list-type is map"
            yield invalid(f"{path}.items.type", items.get("type") or "", text)
        else:
            yield from _keys(keys, items, path)


def _keys(keys: Sequence[str], items: Schema, path: str) -> Iterator[Cause]:
    properties = items.get("properties") or {}
    for at, key in enumerate(keys):
        if key not in properties:
            text = "entries must all be names of item properties"
            yield invalid(f"{path}.{KEYS}", keys, text)
        elif properties[key].get("type") in ("array", "object"):
            text = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            yield invalid(f"{path}.items.properties[{key}].type", items.get("type"), text)
        if key in keys[:at]:
            yield invalid(f"{path}.{KEYS}", keys, "must not contain duplicate entries")


def _present(schema: Schema, listing: str, path: str) -> Iterator[Cause]:
    """Items that are told apart are there, and so are their keys."""
    items = schema["items"]
    if items.get("nullable"):
        text = f"cannot be nullable when x-kubernetes-list-type is {listing}"
        yield forbidden(f"{path}.nullable", text)
    if listing != "map":
        return
    properties, needed = items.get("properties") or {}, items.get("required") or ()
    for key in (each for each in schema.get(KEYS) or () if each in properties):
        field_path = f"{path}.properties[{key}]"
        if key not in needed and properties[key].get("default") is None:
            text = "so it must have a default or be a required property"
            yield required(f"{field_path}.default", f"{_KEY}, {text}")
        if properties[key].get("nullable"):
            yield forbidden(f"{field_path}.nullable", f"{_KEY}, so it cannot be nullable")


def duplicate_items(value: Any, schema: StructuralSchema | None, path: str = "") -> Iterator[Cause]:
    """Every item that has been there before, each the first time that happens."""
    if schema is None or not schema.unique:
        return
    if isinstance(value, dict):
        for name, child in value.items():
            below = schema.child(name)
            if below is None or not below.unique:
                continue
            dot = f".{name}" if path else name
            step = dot if name in schema.properties else f"[{name}]"
            yield from duplicate_items(child, below, path + step)
    elif isinstance(value, list):
        yield from _list(value, schema, path)
        if schema.items is not None and schema.items.unique:
            for at, item in enumerate(value):
                yield from duplicate_items(item, schema.items, f"{path}[{at}]")


def _list(values: list[Any], schema: StructuralSchema, path: str) -> Iterator[Cause]:
    if schema.listing == "set":
        yield from (duplicate(f"{path}[{at}]", values[at]) for at in _again(values))
    elif schema.listing == "map":
        for at, item in enumerate(values):
            if item is not None and not isinstance(item, dict):
                text = "must be an object for an array of list-type map"
                yield invalid(f"{path}[{at}]", item, text)
                return
        keys = [_key(item or {}, schema.keys) for item in values]
        yield from (duplicate(f"{path}[{at}]", keys[at]) for at in _again(keys))


def _key(item: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: item[name] for name in names if name in item}


def _again(values: Sequence[Any]) -> Iterator[int]:
    """Where a value occurs for the second time."""
    seen: Counter[bytes] = Counter()
    for at, value in enumerate(values):
        mark = _sorted.encode(value)
        seen[mark] += 1
        if seen[mark] == 2:
            yield at
