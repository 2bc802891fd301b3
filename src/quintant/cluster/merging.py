"""Objects through their shape: which fields they have, how two differ, merging and removing.

These are the four operations server-side apply is made of. All are pure; they never change their
arguments and may share parts of them with their results.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from quintant.cluster.fields import (
    FieldSet,
    Path,
    field_element,
    key_element,
    shown,
    value_element,
)
from quintant.cluster.shapes import Listing, Shape
from quintant.cluster.sorts import unfit


class Untypable(Exception):
    """An object does not fit its shape: an item without its key, or the same key twice."""

    def __init__(self, why: str, path: Path = ()) -> None:
        super().__init__(why)
        self.faults: list[tuple[Path, str]] = [(path, why)]

    @classmethod
    def joined(cls, errors: list[Untypable]) -> Untypable:
        """Several of them as one."""
        found = errors[0]
        found.faults = [fault for error in errors for fault in error.faults]
        return found

    def below(self, element: str) -> Untypable:
        """The same, seen from further up."""
        self.faults = [((element, *path), why) for path, why in self.faults]
        return self

    def __str__(self) -> str:
        told = [f"{shown(path)}: {why}" for path, why in self.faults]
        return told[0] if len(told) == 1 else "\n  ".join(("errors:", *told))


class _Missing:
    """No value at all, which null is not."""


MISSING: Final = _Missing()


@dataclass(slots=True)
class Comparison:
    """How one object differs from another."""

    added: FieldSet = field(default_factory=FieldSet)
    modified: FieldSet = field(default_factory=FieldSet)
    removed: FieldSet = field(default_factory=FieldSet)

    def __bool__(self) -> bool:
        return bool(self.added or self.modified or self.removed)

    def attach(self, element: str, below: Comparison) -> None:
        self.added.attach(element, below.added)
        self.modified.attach(element, below.modified)
        self.removed.attach(element, below.removed)

    def without(self, ignored: FieldSet) -> Comparison:
        """The comparison apart from some fields and everything below them."""
        return Comparison(
            self.added.without(ignored),
            self.modified.without(ignored),
            self.removed.without(ignored),
        )


def fields_of(value: Any, shape: Shape) -> FieldSet:
    """The fields an applied configuration claims."""
    found, errors = FieldSet(), list[Untypable]()
    if isinstance(value, dict):
        for name, child in value.items():
            element, below = field_element(name), shape.child(name)
            if shape.closed and not shape.declares(name):
                errors.append(Untypable("field not declared in schema", (element,)))
                continue
            errors += _claim(found, element, child, below)
            if child is None or child == {} or not shape.declares(name):
                found.members.add(element)
    else:
        for element, child in _unique(value, shape):
            errors += _claim(found, element, child, shape.item())
            found.members.add(element)
    if errors:
        raise Untypable.joined(errors)
    return found


def compare(old: Any, new: Any, shape: Shape) -> Comparison:
    """What was added, modified and removed between two maps or lists."""
    found = Comparison()
    if isinstance(old, list) or isinstance(new, list):
        left, right = _indexed(old, shape), _indexed(new, shape)
        for element in left | right:
            one, other = left.get(element, MISSING), right.get(element, MISSING)
            _difference(found, element, one, other, shape.item())
        return found
    before, after = old or {}, new or {}
    for name in before | after:
        one, other = before.get(name, MISSING), after.get(name, MISSING)
        _difference(found, field_element(name), one, other, shape.child(name))
    return found


def merge(live: Any, config: Any, shape: Shape) -> Any:
    """The live value with a configuration laid over it."""
    if config is MISSING or (config is None and not _flat(live, shape)):
        return live
    if isinstance(live, dict) and isinstance(config, dict) and not shape.atomic:
        merged = dict(live)
        for name, value in config.items():
            merged[name] = merge(live.get(name, MISSING), value, shape.child(name))
        return merged
    if isinstance(live, list) and isinstance(config, list) and _associative(shape):
        return [
            merge(one, other, shape.item())
            for one, other in _aligned(list(_items(live, shape)), list(_items(config, shape)))
        ]
    return config


def remove(value: Any, gone: FieldSet, shape: Shape) -> Any:
    """The value without some of its fields and items; null where the last one went."""
    if isinstance(value, dict) and not shape.atomic:
        left = {
            name: _remove_below(child, gone, field_element(name), shape.child(name))
            for name, child in value.items()
            if field_element(name) not in gone.members
        }
        return left or None
    if isinstance(value, list) and _associative(shape):
        return [
            _remove_below(child, gone, element, shape.item())
            for element, child in _items(value, shape)
            if element not in gone.members
        ] or None
    return value


def named(fields: FieldSet, shape: Shape) -> FieldSet:
    """The set with every declared field that has owned children as a member, too."""
    full = FieldSet()
    full.members = set(fields.members)
    for element, below in fields.children.items():
        name = element[2:] if element.startswith("f:") else None
        if name is not None and shape.declares(name):
            full.members.add(element)
        full.children[element] = named(below, shape.item() if name is None else shape.child(name))
    return full


def _claim(found: FieldSet, element: str, value: Any, shape: Shape) -> list[Untypable]:
    """Claim a value, in place; what is wrong with it."""
    if complaint := unfit(value, shape.sort):
        return [Untypable(complaint, (element,))]
    if _leaf(value, shape):
        found.members.add(element)
    elif value:
        try:
            found.attach(element, fields_of(value, shape))
        except Untypable as error:
            return [error.below(element)]
    return []


def _difference(found: Comparison, element: str, old: Any, new: Any, shape: Shape) -> None:
    if old is new or old == new:
        return
    if not (_flat(old, shape) and _flat(new, shape)) and _alike(old, new):
        one, other = _present(old), _present(new)
        found.attach(element, compare(one, other, shape))
        if old is not MISSING and new is not MISSING:
            return
    elif not _alike(old, new):
        # One sort of value took the place of another: nothing below the old one is left.
        found.removed.attach(element, _below(old, shape))
        found.added.attach(element, _below(new, shape))
    if old is MISSING:
        found.added.members.add(element)
    elif new is MISSING:
        found.removed.members.add(element)
    else:
        found.modified.members.add(element)


def _below(value: Any, shape: Shape) -> FieldSet:
    """The fields of a value, if it has any."""
    return FieldSet() if _flat(value, shape) else compare(None, value, shape).added


def _remove_below(value: Any, gone: FieldSet, element: str, shape: Shape) -> Any:
    below = gone.children.get(element)
    return value if below is None else remove(value, below, shape)


def _leaf(value: Any, shape: Shape) -> bool:
    """Whether a value is owned as a whole."""
    if isinstance(value, dict):
        return shape.atomic
    if isinstance(value, list):
        return not _associative(shape)
    return True


def _flat(value: Any, shape: Shape) -> bool:
    """Whether there is nothing below a value to compare: a leaf, nothing, or an empty map."""
    return _leaf(value, shape) or not value


def _alike(old: Any, new: Any) -> bool:
    """Whether both are maps or both are lists; nothing goes with either."""
    sorts = {type(value) for value in (old, new) if value is not None and value is not MISSING}
    return len(sorts) == 1


def _present(value: Any) -> Any:
    return None if value is MISSING else value


def _associative(shape: Shape) -> bool:
    return shape.listing is not Listing.ATOMIC


def _items(values: list[Any], shape: Shape) -> Iterator[tuple[str, Any]]:
    for at, value in enumerate(values):
        if shape.listing is Listing.MAP and not isinstance(value, dict):
            text = "associative list with keys may not have non-map elements"
            raise Untypable(f"element {at}: {text}")
        yield _element(value, shape), value


def _element(value: Any, shape: Shape) -> str:
    if shape.listing is Listing.SET:
        return value_element(value)
    keys = {name: value.get(name, default) for name, default in shape.keys.items()}
    for name, found in keys.items():
        if found is None:
            raise Untypable(
                f'associative list with keys has an element that omits key field "{name}" '
                "(and doesn't have default value)"
            )
    return key_element(keys)


def _indexed(values: Any, shape: Shape) -> dict[str, Any]:
    """Items by their element; of duplicates the last."""
    return dict(_items(values or [], shape))


def _unique(values: list[Any], shape: Shape) -> Iterator[tuple[str, Any]]:
    seen: set[str] = set()
    for element, value in _items(values, shape):
        if element in seen:
            raise Untypable(f"duplicate entries for key {shown((element,))}")
        seen.add(element)
        yield element, value


def _aligned(
    live: list[tuple[str, Any]], config: list[tuple[str, Any]]
) -> Iterator[tuple[Any, Any]]:
    """Pairs of items in the merged order.

    Configured items come in the configuration's order. An item that only the live list has comes
    as early as its place there allows: before the next configured item that both lists have.
    """
    before, wanted = dict(live), dict(config)
    waiting = deque(element for element, _ in live)
    for element, value in config:
        yield from _ahead(waiting, _shared(config, element, before), wanted, before)
        if waiting and waiting[0] == element:
            waiting.popleft()
        yield before.get(element, MISSING), value
    yield from _ahead(waiting, None, wanted, before)


def _shared(config: list[tuple[str, Any]], since: str, before: dict[str, Any]) -> str | None:
    """The first configured element, from one on, that the live list has, too."""
    elements = [element for element, _ in config]
    rest = elements[elements.index(since) :]
    return next((element for element in rest if element in before), None)


def _ahead(
    waiting: deque[str], until: str | None, wanted: dict[str, Any], before: dict[str, Any]
) -> Iterator[tuple[Any, Any]]:
    """The live-only items at the head of the queue, which loses shared ones out of order, too."""
    while waiting and waiting[0] != until:
        element = waiting.popleft()
        if element not in wanted:
            yield before[element], MISSING
