"""Strategic merge patch: JSON merge patch that knows which lists are sets and which are maps.

The tables say how a field merges: a list with strategy `merge` item by item, told apart by its
merge key (or by value, if the items are plain), any other list as a whole. A patch may direct:

    $patch: replace | delete          what happens to the map it is in, or to the list around it
    $retainKeys: [k, …]               keys of a map that stay; the others go
    $deleteFromPrimitiveList/f: […]   items that leave the list f
    $setElementOrder/f: […]           the order of the list f afterwards

Nothing given is changed; results share parts with what was given. What a real server refuses is
refused in its words.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import msgspec

from quintant.cluster.apiserver.golang.printing import plain, quoted
from quintant.cluster.apiserver.meta.status import StatusError, bad_request, unknown_error
from quintant.cluster.apiserver.patch.strategic_order import (
    ORDER,
    PATCH,
    check_order,
    element_type,
    keyed,
    mark,
    marked,
    mistaken,
    ordered,
    union,
)
from quintant.cluster.apiserver.tables import FieldKind, FieldType, Message

RETAIN = "$retainKeys"
REMOVE = "$deleteFromPrimitiveList"

Plain = dict[str, Any]
Items = list[Any]


class _Below(msgspec.Struct, frozen=True):
    """A field that is merged: its type (of a list: its items'), and how."""

    type: FieldType
    strategy: str
    key: str


def strategic_merge(live: Plain, patch: Plain, message: Message) -> Plain:
    """The live object of a kind after a patch."""
    return _merge(live, patch, FieldType(FieldKind.MESSAGE, name=message.name))


def _merge(live: Plain, patch: Plain, kind: FieldType) -> Plain:
    """A map of a type after a patch."""
    if PATCH in patch:
        return _directed(patch)
    merged = _retained(live, patch)
    changes = {key: value for key, value in patch.items() if key != RETAIN}
    for key in [key for key in changes if key.startswith(ORDER)]:
        _arrange(merged, changes, key, kind)
    for key, value in changes.items():
        if key.startswith(REMOVE):
            _take(merged, _target(key, REMOVE, "primitive list"), value, kind)
        else:
            _put(merged, key, value, kind)
    return merged


def _directed(patch: Plain) -> Plain:
    if patch[PATCH] == "replace":
        return {key: value for key, value in patch.items() if key != PATCH}
    if patch[PATCH] == "delete":
        return {}
    raise _unknown_directive(patch)


def _retained(live: Plain, patch: Plain) -> Plain:
    """A copy of the live map, with the keys that stay."""
    if RETAIN not in patch:
        return dict(live)
    kept = patch[RETAIN]
    told = (key for key, value in patch.items() if key != RETAIN and value is not None)
    added = (key for key in told if not key.startswith((REMOVE, ORDER)))
    if not isinstance(kept, list) or any(key not in kept for key in added):
        raise bad_request("invalid patch format of retainKeys")
    return {key: value for key, value in live.items() if key in kept}


def _put(merged: Plain, key: str, value: Any, kind: FieldType) -> None:
    """Merge a value into a map, in place."""
    before = merged.pop(key, None)
    if isinstance(before, dict) and isinstance(value, dict):
        below = _field(kind, key)
        replaced = below.strategy == "replace"
        merged[key] = value if replaced else _merge(before, value, below.type)
    elif isinstance(before, list) and isinstance(value, list):
        merged[key] = _merge_list(before, value, _list(kind, key))
    elif value is not None and not marked(value):
        merged[key] = _cleared(value)


def _take(merged: Plain, key: str, items: Any, kind: FieldType) -> None:
    """Take items out of a list, in place."""
    before = merged.get(key)
    if items is None:
        merged.pop(key, None)
    elif isinstance(before, list) and isinstance(items, list):
        below = _list(kind, key)
        if not before and not items:
            return
        if element_type(before, items) is dict:
            merged[key] = _merge_maps(before, items, below)
        else:
            gone = {mark(item) for item in items}
            merged[key] = [item for item in before if mark(item) not in gone]


def _arrange(merged: Plain, changes: Plain, directive: str, kind: FieldType) -> None:
    """Merge a list and give it the order directed, in place; it is no longer to be merged."""
    order = _items(changes.pop(directive))
    key = _target(directive, ORDER, "setElementOrder list")
    live = _items(merged[key]) if key in merged else None
    items = _items(changes[key]) if key in changes else None
    below = _list(kind, key)
    check_order(items or [], order, below.key)
    if live is None and items is None:
        return
    found = _cleared(items) if live is None else live
    if live is not None and items is not None:
        found = _merge_list(live, items, below)
    element_type(live or [], items or [])
    merged[key] = ordered(found, order, live or [], below.key)
    changes.pop(key, None)


def _merge_list(live: Items, items: Items, below: _Below) -> Items:
    if below.strategy != "merge" or not (live or items):
        return items
    if element_type(live, items) is dict:
        return _merge_maps(live, items, below)
    return ordered(union(live, items), items, live, below.key)


def _merge_maps(live: Items, items: Items, below: _Below) -> Items:
    """A list of maps after a patch, item by item."""
    if not below.key:
        raise unknown_error("cannot merge lists without merge key for struct")
    wanted = [item for item in items if PATCH not in item]
    directives = [item for item in items if PATCH in item]
    kept = _less(live, directives, below.key)
    if any(item[PATCH] == "replace" for item in directives):
        return ordered(wanted, [], wanted, below.key)
    merged, places = list(kept), _places(kept, below.key)
    for item in wanted:
        at = places.setdefault(mark(keyed(item, below.key)), len(merged))
        if at == len(merged):
            merged.append(item)
        else:
            merged[at] = _merge(merged[at], item, below.type)
    return ordered(merged, wanted, kept, below.key)


def _places(items: Items, key: str) -> dict[Hashable, int]:
    """Where each value of a key is first, among the items that have one."""
    places: dict[Hashable, int] = {}
    for at, item in enumerate(items):
        if key in item:
            places.setdefault(mark(item[key]), at)
    return places


def _less(live: Items, directives: Items, key: str) -> Items:
    """A list without the items that a patch deletes."""
    gone = set()
    for item in directives:
        if item[PATCH] == "delete":
            gone.add(mark(keyed(item, key)))
        elif item[PATCH] == "merge":
            raise unknown_error("merging lists cannot yet be specified in the patch")
        elif item[PATCH] != "replace":
            raise _unknown_directive(item)
    return [item for item in live if key not in item or mark(item[key]) not in gone]


def _field(kind: FieldType, key: str) -> _Below:
    """What a field of a map is, for merging two maps there."""
    if kind.kind is not FieldKind.MESSAGE:
        sort = "map" if kind.kind is FieldKind.MAP else "struct"
        raise unknown_error(
            f"merging an object in json but data type is not struct, instead is: {sort}"
        )
    message = kind.message
    field = None if message.union else message.fields.get(key)
    if field is None:
        name = message.name.rpartition(".")[2]
        raise unknown_error(
            f"unable to find api field in struct {name} for the json field {quoted(key)}"
        )
    strategies = field.traits.strategy.split(",")
    strategy = next((word for word in strategies if word != "retainKeys"), "")
    return _Below(field.type, strategy, field.traits.merge)


def _list(kind: FieldType, key: str) -> _Below:
    """What a field is whose lists are merged: the type is that of their items."""
    below = _field(kind, key)
    if below.type.of is None or below.type.kind is FieldKind.MAP:
        raise unknown_error("expected slice or array type, but got: struct")
    return _Below(below.type.item, below.strategy, below.key)


def _target(directive: str, prefix: str, title: str) -> str:
    """The field that a directive is about."""
    before, slash, key = directive.partition("/")
    if before != prefix or not slash:
        raise bad_request(f"invalid patch format of {title}")
    return key


def _items(value: Any) -> Items:
    if not isinstance(value, list):
        raise mistaken(list, value)
    return value


def _cleared(value: Any) -> Any:
    """A new value as it is stored: without nulls, and without what is only directed."""
    if isinstance(value, dict):
        kept = {key: child for key, child in value.items() if child is not None}
        return {key: _cleared(child) for key, child in kept.items() if not marked(child)}
    if isinstance(value, list):
        return [_cleared(item) for item in value if not marked(item)]
    return value


def _unknown_directive(patch: Plain) -> StatusError:
    return unknown_error(f"unknown patch type: {plain(patch[PATCH])} in map: {plain(patch)}")
