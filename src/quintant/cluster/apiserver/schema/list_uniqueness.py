"""Lists whose items must differ: sets as a whole, maps in their keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from quintant.cluster.apiserver.meta.field_errors import duplicate, invalid
from quintant.cluster.apiserver.schema.prune import StructuralSchema
from quintant.core.errors import Cause

_sorted = msgspec.json.Encoder(order="sorted")


def duplicate_items(value: Any, place: StructuralSchema | None, path: str = "") -> Iterator[Cause]:
    """Every item that has been there before, each the first time that happens."""
    if place is None or not place.unique:
        return
    if isinstance(value, dict):
        for name, child in value.items():
            below = place.child(name)
            if below is None or not below.unique:
                continue
            dot = f".{name}" if path else name
            where = dot if name in place.properties else f"[{name}]"
            yield from duplicate_items(child, below, path + where)
    elif isinstance(value, list):
        yield from _list(value, place, path)
        if place.items is not None and place.items.unique:
            for at, item in enumerate(value):
                yield from duplicate_items(item, place.items, f"{path}[{at}]")


def _list(values: list[Any], place: StructuralSchema, path: str) -> Iterator[Cause]:
    if place.listing == "set":
        yield from (duplicate(f"{path}[{at}]", values[at]) for at in _again(values))
    elif place.listing == "map":
        for at, item in enumerate(values):
            if item is not None and not isinstance(item, dict):
                text = "must be an object for an array of list-type map"
                yield invalid(f"{path}[{at}]", item, text)
                return
        keys = [_key(item or {}, place.keys) for item in values]
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
