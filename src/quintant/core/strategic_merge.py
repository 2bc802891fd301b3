"""Strategic merge patch: JSON merge patch that knows which lists are sets and which are maps.

Who calls knows how a field merges (`LookupPatchMeta`): a list with strategy `merge` item by item,
identified by its merge key (or by value, if the items are plain), any other list as a whole. A
patch may direct:

    $patch: replace | delete          what happens to the map it is in, or to the list around it
    $retainKeys: [k, …]               keys of a map that stay; the others go
    $deleteFromPrimitiveList/f: […]   items that leave the list f
    $setElementOrder/f: […]           the order of the list f afterwards

Nothing given is changed; results share parts with what was given. What Kubernetes refuses is
refused in its words.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Protocol

from msgspec import Struct

from quintant.core.strategic_order import (
    ORDER,
    PATCH,
    BadPatchFormat,
    PatchError,
    check_order,
    element_type,
    keyed,
    mark,
    marked,
    mistaken,
    ordered,
    union,
)

RETAIN = "$retainKeys"
REMOVE = "$deleteFromPrimitiveList"

JsonObject = dict[str, Any]
Items = list[Any]


class PatchMeta(Struct, frozen=True):
    """How a field is merged, and how what is below it is (of a list: below its items)."""

    below: LookupPatchMeta
    strategy: str = ""
    """`merge` for a list that is merged, `replace` for a map that is not."""
    merge_key: str = ""
    """What identifies the items of a merged list; without one they are compared by value."""


class LookupPatchMeta(Protocol):
    """What is known of the fields of an object, or of a part of one."""

    def for_struct(self, key: str) -> PatchMeta:
        """How two maps under a key are merged."""

    def for_slice(self, key: str) -> PatchMeta:
        """How two lists under a key are merged."""


class MergeKeys(Struct, frozen=True):
    """Merge keys by the path of their list: every other list is replaced, every map merged.

    MergeKeys({"spec.containers": "name", "metadata.finalizers": ""})
    """

    keys: Mapping[str, str]
    path: str = ""

    def for_struct(self, key: str) -> PatchMeta:
        path = f"{self.path}.{key}" if self.path else key
        strategy = "merge" if path in self.keys else ""
        return PatchMeta(MergeKeys(self.keys, path), strategy, self.keys.get(path, ""))

    for_slice = for_struct


def strategic_merge(live: JsonObject, patch: JsonObject, schema: LookupPatchMeta) -> JsonObject:
    """A map after a patch, given what is known of its fields; PatchError if that cannot be."""
    if PATCH in patch:
        return _directed(patch)
    merged = _retained(live, patch)
    changes = {key: value for key, value in patch.items() if key != RETAIN}
    for key in [key for key in changes if key.startswith(ORDER)]:
        _arrange(merged, changes, key, schema)
    for key, value in changes.items():
        if key.startswith(REMOVE):
            _take(merged, _target(key, REMOVE, "primitive list"), value, schema)
        else:
            _put(merged, key, value, schema)
    return merged


def _directed(patch: JsonObject) -> JsonObject:
    if patch[PATCH] == "replace":
        return {key: value for key, value in patch.items() if key != PATCH}
    if patch[PATCH] == "delete":
        return {}
    raise _unknown_directive(patch)


def _retained(live: JsonObject, patch: JsonObject) -> JsonObject:
    """A copy of the live map, with the keys that stay."""
    if RETAIN not in patch:
        return dict(live)
    kept = patch[RETAIN]
    given = (key for key, value in patch.items() if key != RETAIN and value is not None)
    added = (key for key in given if not key.startswith((REMOVE, ORDER)))
    if not isinstance(kept, list) or any(key not in kept for key in added):
        raise BadPatchFormat("invalid patch format of retainKeys")
    return {key: value for key, value in live.items() if key in kept}


def _put(merged: JsonObject, key: str, value: Any, schema: LookupPatchMeta) -> None:
    """Merge a value into a map, in place."""
    before = merged.pop(key, None)
    if isinstance(before, dict) and isinstance(value, dict):
        meta = schema.for_struct(key)
        replaced = meta.strategy == "replace"
        merged[key] = value if replaced else strategic_merge(before, value, meta.below)
    elif isinstance(before, list) and isinstance(value, list):
        merged[key] = _merge_list(before, value, schema.for_slice(key))
    elif value is not None and not marked(value):
        merged[key] = _cleared(value)


def _take(merged: JsonObject, key: str, items: Any, schema: LookupPatchMeta) -> None:
    """Take items out of a list, in place."""
    before = merged.get(key)
    if items is None:
        merged.pop(key, None)
    elif isinstance(before, list) and isinstance(items, list):
        meta = schema.for_slice(key)
        if not before and not items:
            return
        if element_type(before, items) is dict:
            merged[key] = _merge_maps(before, items, meta)
        else:
            gone = {mark(item) for item in items}
            merged[key] = [item for item in before if mark(item) not in gone]


def _arrange(
    merged: JsonObject, changes: JsonObject, directive: str, schema: LookupPatchMeta
) -> None:
    """Merge a list and give it the order directed, in place; it is no longer to be merged."""
    order = _items(changes.pop(directive))
    key = _target(directive, ORDER, "setElementOrder list")
    live = _items(merged[key]) if key in merged else None
    items = _items(changes[key]) if key in changes else None
    meta = schema.for_slice(key)
    check_order(items or [], order, meta.merge_key)
    if live is None and items is None:
        return
    found = _cleared(items) if live is None else live
    if live is not None and items is not None:
        found = _merge_list(live, items, meta)
    element_type(live or [], items or [])
    merged[key] = ordered(found, order, live or [], meta.merge_key)
    changes.pop(key, None)


def _merge_list(live: Items, items: Items, meta: PatchMeta) -> Items:
    if meta.strategy != "merge" or not (live or items):
        return items
    if element_type(live, items) is dict:
        return _merge_maps(live, items, meta)
    return ordered(union(live, items), items, live, meta.merge_key)


def _merge_maps(live: Items, items: Items, meta: PatchMeta) -> Items:
    """A list of maps after a patch, item by item."""
    if not meta.merge_key:
        raise PatchError("cannot merge lists without merge key for struct")
    wanted = [item for item in items if PATCH not in item]
    directives = [item for item in items if PATCH in item]
    kept = _less(live, directives, meta.merge_key)
    if any(item[PATCH] == "replace" for item in directives):
        return ordered(wanted, [], wanted, meta.merge_key)
    merged, places = list(kept), _places(kept, meta.merge_key)
    for item in wanted:
        at = places.setdefault(mark(keyed(item, meta.merge_key)), len(merged))
        if at == len(merged):
            merged.append(item)
        else:
            merged[at] = strategic_merge(merged[at], item, meta.below)
    return ordered(merged, wanted, kept, meta.merge_key)


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
            raise PatchError("merging lists cannot yet be specified in the patch")
        elif item[PATCH] != "replace":
            raise _unknown_directive(item)
    return [item for item in live if key not in item or mark(item[key]) not in gone]


def _target(directive: str, prefix: str, title: str) -> str:
    """The field that a directive is about."""
    before, slash, key = directive.partition("/")
    if before != prefix or not slash:
        raise BadPatchFormat(f"invalid patch format of {title}")
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


def _unknown_directive(patch: JsonObject) -> PatchError:
    return PatchError("unknown patch type: ", patch[PATCH], " in map: ", patch)
