"""Lists in an order others want: how strategic merge patch sorts what it merged.

Items are identified by the value under a key or, where there is no key, by themselves. What a patch
names comes in the patch's order, what only the live list has in the live one's; the two are merged
so that an item stays before those it was before. Items are looked up, not searched for: lists come
from strangers, and may be long.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any

PATCH = "$patch"
"""What an item of a patch has that only directs what becomes of others."""
ORDER = "$setElementOrder"
"""What a patch calls the order that a list shall have, before the name of the list."""
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


class PatchError(ValueError):
    """A strategic merge patch cannot be applied, in the words of Kubernetes' own library.

    Texts and values take turns, so that a server can spell the values as Go does.
    """

    def __str__(self) -> str:
        return self.spelt(repr)

    def spelt(self, spell: Callable[[Any], str]) -> str:
        """The whole text, with every value spelt by a function."""
        return "".join(spell(part) if at % 2 else part for at, part in enumerate(self.args))


class BadPatchFormat(PatchError):
    """A directive is not well formed."""


class ListInList(PatchError):
    """A list holds lists, which cannot be merged."""

    def __init__(self) -> None:
        super().__init__("lists of lists cannot be merged")


def ordered(items: Items, order: Items, live: Items, key: str) -> list[Any]:
    """Items in an order, with those it does not name placed as in the live list."""
    for item in (*items, *order, *live):
        if isinstance(item, dict):
            keyed(item, key)
    wanted, known = Places(order, key), Places(live, key)
    named = deque(sorted((item for item in items if item in wanted), key=wanted.rank))
    others = deque(sorted((item for item in items if item not in wanted), key=known.rank))
    result: list[Any] = []
    while named and others:
        first = others if known.before(others[0], named[0]) else named
        result.append(first.popleft())
    return [*result, *named, *others]


def check_order(items: Items, order: Items, key: str) -> None:
    """Refuse an order that lacks an item of the patch, or has them in another order."""
    wanted = [item for item in items if not (marked(item) and item[PATCH] == "delete")]
    at = beside = 0
    # A directive passes only before the end of the order: so it is on a real server.
    while at < len(wanted) and beside < len(order):
        if marked(wanted[at]):
            at += 1
            continue
        at += alike(wanted[at], order[beside], key)
        beside += 1
    if order and at < len(wanted):
        middle = f"\n doesn't match {ORDER} list:\n"
        raise PatchError("The order in patch list:\n", items, middle, order, "\n")


class Places:
    """Where in a list each item is first."""

    def __init__(self, items: Items, key: str) -> None:
        self._key, self._last = key, len(items)
        self._at: dict[Hashable, int] = {}
        for at, item in enumerate(items):
            self._at.setdefault(self._mark(item), at)

    def __contains__(self, item: Any) -> bool:
        return self._find(item) is not None

    def rank(self, item: Any) -> int:
        """The place of an item; what is not there comes last."""
        at = self._find(item)
        return self._last if at is None else at

    def before(self, one: Any, other: Any) -> bool:
        """Whether both are there, and one before the other."""
        at, beside = self._find(one), self._find(other)
        return at is not None and beside is not None and at < beside

    def _find(self, item: Any) -> int | None:
        return self._at.get(self._mark(item)) if self._at else None

    def _mark(self, item: Any) -> Hashable:
        return mark(keyed(item, self._key) if self._key else item)


def mark(value: Any) -> Hashable:
    """What two JSON values have in common that are the same: true is not 1."""
    if isinstance(value, dict):
        return frozenset((name, mark(each)) for name, each in value.items())
    if isinstance(value, list):
        return tuple(map(mark, value))
    return isinstance(value, bool), value


def element_type(*lists: Items) -> type:
    """What the items of some lists all are; it must be one thing, and no list."""
    values = [value for items in lists for value in items]
    if not values:
        raise PatchError("no elements in any of the given slices")
    if isinstance(values[0], list):
        raise ListInList
    if any(type(value) is not type(values[0]) for value in values):
        raise PatchError("list element types are not identical: ", lists)
    return type(values[0])


def keyed(item: Any, key: str) -> Any:
    """What an item has under a key; every item has to have one."""
    if not isinstance(item, dict):
        raise mistaken(dict, item)
    if key not in item:
        raise PatchError("map: ", item, f" does not contain declared merge key: {key}")
    return item[key]


def marked(value: Any) -> bool:
    """Whether an item of a patch is a directive."""
    return isinstance(value, dict) and PATCH in value


def alike(one: Any, other: Any, key: str) -> bool:
    """Whether two items are the same one."""
    one, other = (keyed(one, key), keyed(other, key)) if key else (one, other)
    return mark(one) == mark(other)


def union(*lists: Items) -> list[Any]:
    """The values of some lists, each once."""
    found: dict[Hashable, Any] = {}
    for value in (value for items in lists for value in items):
        found.setdefault(mark(value), value)
    return list(found.values())


def mistaken(expected: type, value: Any) -> PatchError:
    """What is said about something that should be a map or a list."""
    wanted, found = _GO_TYPES[expected], _GO_TYPES[type(value)]
    return PatchError(f"expected a {wanted}, but received a {found}")
