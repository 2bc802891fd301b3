"""What is otherwise between two states: additions, changes and removals, by path. Pure.

Lists are values: one that differs at all is one change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from quintant.kopf.values.fields import FieldPath, resolve


class DiffOperation(StrEnum):
    """What became of a field."""

    ADD = "add"
    CHANGE = "change"
    REMOVE = "remove"

    def __repr__(self) -> str:
        return repr(self.value)


class DiffItem(NamedTuple):
    """One field that differs."""

    operation: DiffOperation
    field: FieldPath
    old: Any
    new: Any

    @property
    def op(self) -> DiffOperation:
        return self.operation

    def __repr__(self) -> str:
        return repr(tuple(self))


class Diff(Sequence[DiffItem]):
    """Every field that differs."""

    __slots__ = ("_items",)

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._items = tuple(DiffItem(*item) for item in items)

    def __getitem__(self, index: Any) -> Any:
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return self._items == tuple(other)

    def __hash__(self) -> int:
        return hash(self._items)

    def __repr__(self) -> str:
        return repr(self._items)


def diff(old: Any, new: Any) -> Diff:
    """Everything that leads from one state to another."""
    return Diff(_differing(old, new, ()))


def reduce(changes: Diff, path: FieldPath) -> Diff:
    """What of a difference is at a path or below it, as seen from there."""
    return Diff(_reduced(changes, path))


def _differing(old: Any, new: Any, path: FieldPath) -> Iterator[DiffItem]:
    if old == new:
        return
    if old is None:
        yield DiffItem(DiffOperation.ADD, path, old, new)
    elif new is None:
        yield DiffItem(DiffOperation.REMOVE, path, old, new)
    elif isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from _differing(old.get(key), new.get(key), (*path, key))
    else:
        yield DiffItem(DiffOperation.CHANGE, path, old, new)


def _reduced(changes: Diff, path: FieldPath) -> Iterator[DiffItem]:
    for item in changes:
        depth = len(item.field)
        if item.field[: len(path)] == path:
            yield item._replace(field=item.field[len(path) :])
        elif path[:depth] == item.field:
            rest = path[depth:]
            yield from _differing(resolve(item.old, rest), resolve(item.new, rest), ())
