"""SchemaDeclType: the type that expressions see in an object of a kind.

Of a built-in kind it comes from the messages it is made of, of a custom one from its schema. What
has several forms, such as a quantity, is anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from quintant.cluster.apiserver.cel.schemas import declare, escape
from quintant.cluster.apiserver.cel.types import (
    ANY,
    BOOL,
    BYTES,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    CelType,
    list_of,
    map_of,
)
from quintant.cluster.apiserver.go_types import FieldKind, FieldType, MessageType
from quintant.cluster.apiserver.kinds.kind import Kind

_TYPES: Mapping[FieldKind, CelType] = {
    FieldKind.STRING: STRING,
    FieldKind.BOOL: BOOL,
    FieldKind.INT32: INT,
    FieldKind.INT64: INT,
    FieldKind.FLOAT: DOUBLE,
    FieldKind.BYTES: BYTES,
    FieldKind.TIME: TIMESTAMP,
    FieldKind.MICROTIME: TIMESTAMP,
}


def object_type(kind: Kind) -> CelType | None:
    """The type of a kind's objects; None if nothing is known of them."""
    if kind.message is not None:
        return _message_type(kind.message)
    if kind.schema is None:
        return None
    return declare(kind.schema.document(), root=True, name=kind.resource.kind)


class _MessageFields(Mapping[str, CelType]):
    """The fields of a message, each when it is asked for: some messages hold themselves."""

    def __init__(self, message: MessageType) -> None:
        self._fields = {escape(name): field.type for name, field in message.fields.items()}

    def __getitem__(self, name: str) -> CelType:
        return _field_type(self._fields[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)


def _message_type(message: MessageType) -> CelType:
    if message.union:
        return ANY
    return CelType(message.name, fields=_MessageFields(message))


def _field_type(field: FieldType) -> CelType:
    match field.kind:
        case FieldKind.MESSAGE:
            return _message_type(field.message)
        case FieldKind.LIST | FieldKind.BOX:
            return list_of(_field_type(field.item))
        case FieldKind.MAP:
            return map_of(STRING, _field_type(field.item))
    return _TYPES.get(field.kind, ANY)
