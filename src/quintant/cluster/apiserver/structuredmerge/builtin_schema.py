"""The shapes of built-in kinds: what the tables say, as merging and field ownership ask for it.

A structure may have its declared fields only; a map merges key by key unless the table calls it one
value; a list is one value, a set, or a map of its items by their keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import Struct

from quintant.cluster.apiserver.structuredmerge.atoms import Sort as Holds
from quintant.cluster.apiserver.structuredmerge.schema import DEDUCED, Listing, Shape
from quintant.cluster.apiserver.tables import Message, Sort, Traits, Type


class Place(Struct, frozen=True, eq=False):
    """A place in a built-in object."""

    type: Type
    sort: Holds
    atomic: bool
    closed: bool
    listing: Listing
    keys: Mapping[str, Any]

    def declares(self, name: str) -> bool:
        return self.closed and name in self.type.message.fields

    def child(self, name: str) -> Shape:
        if self.closed:
            return _children(self.type.message).get(name, DEDUCED)
        return _place(self.type.item, _PLAIN) if self.type.sort is Sort.MAP else DEDUCED

    def item(self) -> Shape:
        return _place(self.type.item, _PLAIN) if self.type.of is not None else DEDUCED


_PLAIN = Traits()
_SORTS = {
    **dict.fromkeys((Sort.STRING, Sort.BYTES, Sort.TIME, Sort.MICROTIME), Holds.TEXT),
    **dict.fromkeys((Sort.INT32, Sort.INT64, Sort.FLOAT), Holds.NUMBER),
    **dict.fromkeys((Sort.QUANTITY, Sort.INT_OR_STRING), Holds.SCALAR),
    **dict.fromkeys((Sort.LIST, Sort.BOX), Holds.LIST),
    Sort.BOOL: Holds.TRUTH,
    Sort.MAP: Holds.MAP,
}


def builtin_shape(message: Message) -> Shape:
    """The shape of a built-in kind."""
    return _place(Type(Sort.MESSAGE, name=message.name), _PLAIN)


@cache
def _children(message: Message) -> Mapping[str, Shape]:
    return {name: _place(field.type, field.traits) for name, field in message.fields.items()}


@cache
def _place(kind: Type, traits: Traits) -> Place:
    structure = kind.message if kind.sort is Sort.MESSAGE else None
    return Place(
        kind,
        sort=_SORTS.get(kind.sort, Holds.ANY) if structure is None else _structured(structure),
        atomic=_whole(kind, traits),
        closed=structure is not None and not structure.union,
        listing=Listing(traits.list),
        keys={name: _default(kind.item.message, name) for name in traits.keys},
    )


def _whole(kind: Type, traits: Traits) -> bool:
    """Whether a map is one value; what is anything at all, always is."""
    if kind.sort is Sort.MESSAGE:
        return traits.atomic or kind.message.atomic
    return traits.atomic or kind.sort is Sort.JSON


def _structured(message: Message) -> Holds:
    return Holds.ANY if message.union else Holds.MAP


def _default(message: Message, name: str) -> Any:
    """What identifies an item that does not say; None if every item has to."""
    field = message.fields[name]
    if field.traits.default is not None:
        return field.traits.default
    return field.type.zero() if field.traits.always else None
