"""CorrelatedObject: which part of an object a part of its successor replaces.

Fields and keys of maps correspond by name, items of lists only where the list is a map: by its
keys. What corresponds to nothing has no old value, which null is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

_SCALARS = (bool, int, float, str)


class _Absent:
    """No old value at all."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


class MapListKeys(Struct, frozen=True):
    """How the items of a list that is a map are told apart."""

    names: tuple[str, ...]

    @classmethod
    def of(cls, schema: Mapping[str, Any]) -> MapListKeys | None:
        """None where a list's items correspond to nothing."""
        names = schema.get("x-kubernetes-list-map-keys")
        is_map = schema.get("x-kubernetes-list-type") == "map"
        return cls(tuple(names)) if is_map and names else None

    def key(self, item: Any) -> tuple[Any, ...] | None:
        """What identifies an item; None if it lacks a key."""
        if not isinstance(item, dict):
            return None
        found = tuple((type(value), value) for value in map(item.get, self.names))
        return found if all(sort in _SCALARS for sort, _ in found) else None

    def index(self, items: Any) -> dict[tuple[Any, ...] | None, Any]:
        """The items by their keys, of namesakes the first."""
        found: dict[tuple[Any, ...] | None, Any] = {}
        for item in items if isinstance(items, list) else ():
            key = self.key(item)
            if key is not None:
                found.setdefault(key, item)
        return found


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal, and numbers and booleans of one sort."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def unchanged(value: Any, old: Any, schema: Mapping[str, Any]) -> bool:
    """CachedDeepEqual: whether a value is what it was; a list that is a map has no order."""
    if type(value) is not type(old):
        return False
    if isinstance(value, dict):
        known, rest = schema.get("properties") or {}, schema.get("additionalProperties")
        below = rest if isinstance(rest, dict) else {}
        return value.keys() == old.keys() and all(
            unchanged(value[key], old[key], known.get(key, below)) for key in value
        )
    keyed = MapListKeys.of(schema)
    if not isinstance(value, list) or keyed is None:
        return same(value, old)
    before, items = keyed.index(old), schema.get("items") or {}
    return len(value) == len(old) and all(
        unchanged(item, before.get(keyed.key(item), ABSENT), items) for item in value
    )
