"""Lists in an order others want: how strategic merge patch sorts what it merged.

Items are told apart by the value under a key or, where there is no key, by themselves. What a patch
names comes in the patch's order, what only the live list has in the live one's; the two are merged
so that an item stays before those it was before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quintant.cluster.golang import plain
from quintant.cluster.jsonpatch import same
from quintant.cluster.problems import Problem, unexplained, unprocessable

Items = Sequence[Any]
_GO_TYPES = {
    dict: "map[string]interface {}",
    list: "[]interface {}",
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    type(None): "%!s(<nil>)",
}


def ordered(items: Items, order: Items, live: Items, key: str) -> list[Any]:
    """Items in an order, with those it does not name placed as in the live list."""
    for item in (*items, *order, *live):
        if isinstance(item, dict):
            keyed(item, key)
    named = [item for item in items if _place(item, order, key) is not None]
    others = [item for item in items if _place(item, order, key) is None]
    named.sort(key=lambda item: _rank(item, order, key))
    others.sort(key=lambda item: _rank(item, live, key))
    result: list[Any] = []
    while named and others:
        first = others if _before(others[0], named[0], live, key) else named
        result.append(first.pop(0))
    return result + named + others


def element_type(*lists: Items) -> type:
    """What the items of some lists all are; it must be one thing, and no list."""
    values = [value for items in lists for value in items]
    if not values:
        raise unexplained("no elements in any of the given slices")
    if isinstance(values[0], list):
        raise unprocessable()
    if any(type(value) is not type(values[0]) for value in values):
        raise unexplained(f"list element types are not identical: {plain(lists)}")
    return type(values[0])


def matching(items: Items, key: str, value: Any) -> int | None:
    """Where the first item with a value under a key is."""
    for at, item in enumerate(items):
        if not isinstance(item, dict):
            raise unexplained(f"value for key {at} is not a map")
        if key in item and same(item[key], value):
            return at
    return None


def keyed(item: Any, key: str) -> Any:
    """What an item has under a key; every item has to have one."""
    if not isinstance(item, dict):
        raise mistaken(dict, item)
    if key not in item:
        raise unexplained(f"map: {plain(item)} does not contain declared merge key: {key}")
    return item[key]


def alike(one: Any, other: Any, key: str) -> bool:
    """Whether two items are the same one."""
    return same(keyed(one, key), keyed(other, key)) if key else same(one, other)


def union(*lists: Items) -> list[Any]:
    """The values of some lists, each once."""
    found: list[Any] = []
    for value in (value for items in lists for value in items):
        if not within(value, found):
            found.append(value)
    return found


def within(value: Any, items: Items) -> bool:
    """Whether a value is among others."""
    return any(same(value, item) for item in items)


def mistaken(expected: type, value: Any) -> Problem:
    """What is said about something that should be a map or a list."""
    wanted, found = _GO_TYPES[expected], _GO_TYPES[type(value)]
    return unexplained(f"expected a {wanted}, but received a {found}")


def _place(item: Any, order: Items, key: str) -> int | None:
    return next((at for at, other in enumerate(order) if alike(item, other, key)), None)


def _rank(item: Any, order: Items, key: str) -> int:
    at = _place(item, order, key)
    return len(order) if at is None else at


def _before(one: Any, other: Any, live: Items, key: str) -> bool:
    """Whether the live list has both, and one before the other."""
    at, beside = _place(one, live, key), _place(other, live, key)
    return at is not None and beside is not None and at < beside
