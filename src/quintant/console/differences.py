"""What differs between two states of an object, field by field, and who wrote the new value. Pure.

A field is a path such as `.status.conditions[Ready].status`. Who wrote it is what the server's
managedFields say: of the managers that own the field, the one that wrote last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from quintant.console.redact import HIDDEN, is_secret_like
from quintant.console.views import FieldOwner
from quintant.core.codec import BROKEN

MOST_DIFFERENCES = 50
"""Of one change of an object; the rest is counted."""
VALUE_LENGTH = 200
SILENT = {
    ("metadata", "resourceVersion"),
    ("metadata", "generation"),
    ("metadata", "managedFields"),
}
"""Fields that change with every write, and say nothing."""
ITEM_KEYS = ("type", "name", "uid", "id", "key", "containerPort", "port")
"""Fields by which items of lists are told apart."""
MOST_DEPTH = 40

Segment = str | tuple[str, str] | int
"""A field, an item of a list by its key, or one by its position."""


class FieldDifference(NamedTuple):
    """One field that changed."""

    path: tuple[Segment, ...]
    old: str
    new: str

    @property
    def field(self) -> str:
        """The path as people write it."""
        return "".join(_written(each) for each in self.path) or "."


def differences(old: Any, new: Any) -> list[FieldDifference]:
    """What changed, at most so much of it; what is secret-like is not quoted."""
    found: list[FieldDifference] = []
    for difference in _compare((), old, new):
        if len(found) == MOST_DIFFERENCES:
            found.append(FieldDifference((), "", "more fields changed than are listed"))
            break
        found.append(difference)
    return found


def writer_of(path: Sequence[Segment], owners: Iterable[FieldOwner]) -> str:
    """The field manager that wrote a field last; empty if none claims it."""
    best = ("", "")
    for owner in owners:
        if owner.time >= best[0] and _owns(path, _fields(owner.fields)):
            best = owner.time, owner.manager
    return best[1]


def _compare(path: tuple[Segment, ...], old: Any, new: Any) -> Iterator[FieldDifference]:
    if old == new or path[:2] in SILENT:
        return
    deep = len(path) < MOST_DEPTH
    if deep and isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            yield from _compare((*path, name), old.get(name), new.get(name))
    elif deep and isinstance(old, list) and isinstance(new, list):
        yield from _compare_lists(path, old, new)
    else:
        yield FieldDifference(path, _text(path, old), _text(path, new))


def _compare_lists(
    path: tuple[Segment, ...], old: list[Any], new: list[Any]
) -> Iterator[FieldDifference]:
    before, after = _keyed(old), _keyed(new)
    for key in dict.fromkeys((*before, *after)):
        yield from _compare((*path, key), before.get(key), after.get(key))


def _keyed(items: list[Any]) -> dict[Segment, Any]:
    """The items of a list by what tells them apart; by position if nothing does."""
    for name in ITEM_KEYS:
        if all(isinstance(each, dict) and name in each for each in items):
            keyed: dict[Segment, Any] = {(name, str(each[name])): each for each in items}
            if len(keyed) == len(items):
                return keyed
    return dict(enumerate(items))


def _text(path: Sequence[Segment], value: Any) -> str:
    if value is None:
        return ""
    if is_secret_like([each for each in path if isinstance(each, str)][-1:], value):
        return HIDDEN
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= VALUE_LENGTH else text[:VALUE_LENGTH] + "…"


def _written(segment: Segment) -> str:
    if isinstance(segment, tuple):
        return f"[{segment[1]}]"
    return f"[{segment}]" if isinstance(segment, int) else f".{segment}"


@lru_cache(maxsize=512)
def _fields(raw: bytes) -> Any:
    try:
        return msgspec.json.decode(raw)
    except BROKEN:
        return None


def _owns(path: Sequence[Segment], fields: Any) -> bool:
    """Whether a set of fields holds a path, or something that holds it whole."""
    for segment in path:
        if not isinstance(fields, dict):
            return False
        inner = _inside(fields, segment)
        if inner is None:
            # A leaf owns whatever is below it, as an atomic list does.
            return not (fields.keys() - {"."}) and fields is not None and segment is not path[0]
        fields = inner
    return True


def _inside(fields: dict[str, Any], segment: Segment) -> Any:
    if isinstance(segment, str):
        return fields.get(f"f:{segment}")
    if isinstance(segment, int):
        return fields.get(f"i:{segment}")
    for key, inner in fields.items():
        if key.startswith("k:") and segment[1] in key and _matches(key[2:], segment):
            return inner
    return None


def _matches(key: str, segment: tuple[str, str]) -> bool:
    try:
        found = msgspec.json.decode(key)
    except BROKEN:
        return False
    return isinstance(found, dict) and str(found.get(segment[0])) == segment[1]
