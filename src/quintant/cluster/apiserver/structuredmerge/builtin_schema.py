"""typed.Parser, TypeConverter: the schemas of built-in kinds for merging, from the tables.

A structure may have its declared fields only; a map merges key by key unless the table calls it one
value; a list is one value, a set, or a map of its items by their keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any

from msgspec import Struct

from quintant.cluster.apiserver.go_types import FieldKind, FieldTraits, FieldType, MessageType
from quintant.cluster.apiserver.structuredmerge.atoms import AtomKind as Holds
from quintant.cluster.apiserver.structuredmerge.schema import DEDUCED, ListType, MergeSchema


class BuiltinSchema(Struct, frozen=True, eq=False, dict=True):
    """A place in a built-in object; what is below it is looked up once."""

    type: FieldType
    atom: Holds
    atomic: bool
    closed: bool
    list_type: ListType
    keys: Mapping[str, Any]

    @cached_property
    def fields(self) -> Mapping[str, MergeSchema]:
        """The declared fields."""
        return _children(self.type.message) if self.closed else {}

    @cached_property
    def rest(self) -> MergeSchema:
        """What is below any other key."""
        return self.items if self.type.kind is FieldKind.MAP else DEDUCED

    @cached_property
    def items(self) -> MergeSchema:
        """What a map or list holds."""
        return _schema(self.type.item, _PLAIN) if self.type.of is not None else DEDUCED

    def declares(self, name: str) -> bool:
        return name in self.fields

    def child(self, name: str) -> MergeSchema:
        return self.fields.get(name) or self.rest

    def item(self) -> MergeSchema:
        return self.items


_PLAIN = FieldTraits()
_SORTS = {
    **dict.fromkeys(
        (FieldKind.STRING, FieldKind.BYTES, FieldKind.TIME, FieldKind.MICROTIME), Holds.TEXT
    ),
    **dict.fromkeys((FieldKind.INT32, FieldKind.INT64, FieldKind.FLOAT), Holds.NUMBER),
    **dict.fromkeys((FieldKind.QUANTITY, FieldKind.INT_OR_STRING), Holds.SCALAR),
    **dict.fromkeys((FieldKind.LIST, FieldKind.BOX), Holds.LIST),
    FieldKind.BOOL: Holds.TRUTH,
    FieldKind.MAP: Holds.MAP,
}


def builtin_schema(message: MessageType) -> MergeSchema:
    """The shape of a built-in kind."""
    return _schema(FieldType(FieldKind.MESSAGE, name=message.name), _PLAIN)


@cache
def _children(message: MessageType) -> Mapping[str, MergeSchema]:
    return {name: _schema(field.type, field.traits) for name, field in message.fields.items()}


@cache
def _schema(kind: FieldType, traits: FieldTraits) -> BuiltinSchema:
    structure = kind.message if kind.kind is FieldKind.MESSAGE else None
    return BuiltinSchema(
        kind,
        atom=_SORTS.get(kind.kind, Holds.ANY) if structure is None else _structured(structure),
        atomic=_whole(kind, traits),
        closed=structure is not None and not structure.union,
        list_type=ListType(traits.list),
        keys={name: _default(kind.item.message, name) for name in traits.keys},
    )


def _whole(kind: FieldType, traits: FieldTraits) -> bool:
    """Whether a map is one value; what is anything at all, always is."""
    if kind.kind is FieldKind.MESSAGE:
        return traits.atomic or kind.message.atomic
    return traits.atomic or kind.kind is FieldKind.JSON


def _structured(message: MessageType) -> Holds:
    return Holds.ANY if message.union else Holds.MAP


def _default(message: MessageType, name: str) -> Any:
    """What identifies an item that does not say; None if every item has to."""
    field = message.fields[name]
    if field.traits.default is not None:
        return field.traits.default
    return field.type.zero() if field.traits.always else None
