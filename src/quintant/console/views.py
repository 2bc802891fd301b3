"""Objects as the console holds them: metadata to find them by, the rest as JSON.

A page may show any field of any kind, so an object is kept as the bytes that the server sent,
without managedFields: of those, which manager wrote which fields, shared between objects that have
the same.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, NamedTuple, cast

import msgspec

from quintant.console.links import SIMULATED_POD
from quintant.core.codec import BROKEN
from quintant.core.object import Model, Object, ObjectMeta, replace
from quintant.core.resource import Resource, Transform

MOST_SHARED = 4096
"""Field sets that are held once for all objects that have them."""
FASTEST = 1
"""The level of compression: a third of the bytes is what counts, not a quarter."""
MOST_TEXTS = 20_000
"""Labels and namespaces that are held once for all objects that have them."""
MOST_KINDS = 1024
"""Kinds whose classes are kept for when they are followed again."""


_Fields = dict[str, msgspec.Raw]
"""An object as it is read: every field as it came."""


class FieldOwner(NamedTuple):
    """A field manager, and the fields of an object that it wrote."""

    manager: str
    time: str
    subresource: str
    fields: bytes


class _ManagedFields(Model):
    manager: str = ""
    time: str = ""
    subresource: str = ""
    fields: msgspec.Raw = msgspec.field(name="fieldsV1", default=msgspec.Raw(b"{}"))


class ConsoleObject(Object):
    """An object of any kind."""

    packed: bytes = b""
    """Its JSON without managedFields, compressed: ten thousand objects are held."""
    owners: tuple[FieldOwner, ...] = ()

    @property
    def content(self) -> bytes:
        """Its JSON without managedFields."""
        return zlib.decompress(self.packed) if self.packed else b"{}"

    def plain(self) -> dict[str, Any]:
        """As plain dicts and lists, made anew."""
        try:
            found = msgspec.json.decode(self.content)
        except BROKEN:  # nested deeper than a stack is
            return {}
        return found if isinstance(found, dict) else {}


_shared: dict[bytes, bytes] = {}
_texts: dict[str, str] = {}
NOTHING: Mapping[str, str] = {}
"""Labels or annotations of those who have none: the same for all."""


def share_text(text: str) -> str:
    """The one instance of a text that many objects have."""
    if len(_texts) >= MOST_TEXTS:
        _texts.clear()
    return _texts.setdefault(text, text)


def _share(fields: bytes) -> bytes:
    if len(_shared) >= MOST_SHARED:
        _shared.clear()
    return _shared.setdefault(fields, fields)


@lru_cache(maxsize=MOST_KINDS)
def console_kind(resource: Resource) -> type[ConsoleObject]:
    """The class of a kind's objects; the same one whenever the kind is followed again."""
    metaclass: Any = type(ConsoleObject)
    made = metaclass(resource.kind, (ConsoleObject,), {"__module__": __name__})
    made.__resource__ = resource
    made.__transform__ = Transform(cast("type[Model]", _Fields), partial(view_object, made))
    return cast("type[ConsoleObject]", made)


def view_object(made: type[ConsoleObject], raw: Mapping[str, msgspec.Raw]) -> ConsoleObject:
    """An object of what the server sent, field by field."""
    meta: dict[str, msgspec.Raw] = _fields.decode(raw.get("metadata", b"{}"))
    managed = meta.pop("managedFields", None)
    kept = {**raw, "metadata": msgspec.Raw(_encoder.encode(meta))}
    owners = _owners.decode(managed) if managed is not None else ()
    return made(
        metadata=_slim(_metadata.decode(kept["metadata"])),
        packed=zlib.compress(_encoder.encode(kept), FASTEST),
        owners=tuple(_owner(each) for each in owners or ()),
    )


def forget_owners(obj: ConsoleObject) -> None:
    """Let go of who owns which field: it counts when an object changes, and is large."""
    held: Any = obj
    msgspec.structs.force_setattr(held, "owners", ())


def _slim(meta: ObjectMeta) -> ObjectMeta:
    """Metadata without annotations, which the JSON has too, but for one that is asked for."""
    simulated = meta.annotations.get(SIMULATED_POD)
    kept = {SIMULATED_POD: simulated} if simulated is not None else NOTHING
    labels = {share_text(name): share_text(value) for name, value in meta.labels.items()}
    return replace(
        meta,
        namespace=share_text(meta.namespace),
        annotations=kept,
        labels=labels or NOTHING,
    )


def _owner(entry: _ManagedFields) -> FieldOwner:
    fields = _share(bytes(entry.fields))
    return FieldOwner(entry.manager, entry.time, entry.subresource, fields)


_encoder = msgspec.json.Encoder()
_fields = msgspec.json.Decoder(_Fields)
_owners = msgspec.json.Decoder(tuple[_ManagedFields, ...] | None)
_metadata = msgspec.json.Decoder(ObjectMeta)
