"""StrategicMergePatch, smpPatcher: strategic merge patch of built-in kinds, by the tables.

What is merged how is in quintant.core.strategic_merge; here is what it asks for, and what becomes
of its refusals.
"""

from __future__ import annotations

from msgspec import Struct

from quintant.cluster.apiserver.go_types import FieldKind, FieldType, MessageType
from quintant.cluster.apiserver.golang.printing import plain, quoted
from quintant.cluster.apiserver.meta.status import (
    StatusError,
    bad_request,
    unknown_error,
    unprocessable,
)
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.core.strategic_merge import PatchMeta, strategic_merge
from quintant.core.strategic_order import BadPatchFormat, ListInList, PatchError


def strategic_patch(live: JsonObject, patch: JsonObject, message: MessageType) -> JsonObject:
    """The live object of a kind after a patch; 400, 422 or 500 if it cannot be applied."""
    schema = _TypeMeta(FieldType(FieldKind.MESSAGE, name=message.name))
    try:
        return strategic_merge(live, patch, schema)
    except PatchError as error:
        raise _status(error) from None


def _status(error: PatchError) -> StatusError:
    match error:
        case BadPatchFormat():
            return bad_request(error.spelt(plain))
        case ListInList():
            return unprocessable()
    return unknown_error(error.spelt(plain))


class _TypeMeta(Struct, frozen=True):
    """The fields of a type, as merging asks for them."""

    type: FieldType

    def for_struct(self, key: str) -> PatchMeta:
        """What a field of a map is, for merging two maps there."""
        if self.type.kind is not FieldKind.MESSAGE:
            sort = "map" if self.type.kind is FieldKind.MAP else "struct"
            text = f"merging an object in json but data type is not struct, instead is: {sort}"
            raise PatchError(text)
        message = self.type.message
        field = None if message.union else message.fields.get(key)
        if field is None:
            name = message.name.rpartition(".")[2]
            text = f"unable to find api field in struct {name} for the json field {quoted(key)}"
            raise PatchError(text)
        strategies = field.traits.strategy.split(",")
        strategy = next((word for word in strategies if word != "retainKeys"), "")
        return PatchMeta(_TypeMeta(field.type), strategy, field.traits.merge)

    def for_slice(self, key: str) -> PatchMeta:
        """What a field is whose lists are merged: what is below is below their items."""
        meta = self.for_struct(key)
        found = meta.below.type if isinstance(meta.below, _TypeMeta) else None
        if found is None or found.of is None or found.kind is FieldKind.MAP:
            raise PatchError("expected slice or array type, but got: struct")
        return PatchMeta(_TypeMeta(found.item), meta.strategy, meta.merge_key)
