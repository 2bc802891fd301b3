"""CacheableObject: stored bytes and the forms a client may ask for.

An entry holds an object's JSON without its beginning: apiVersion, kind and resourceVersion come in
front when it is written out. So a version is a prefix, a list item without its kind is another,
and a deletion can carry a newer revision, all without decoding:

    {"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"  42  ","name":"a",...},...}
    └──────────────────────── head ───────────────────────────────┘  rv  └──── entry.raw ────┘
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kinds.strategy import ConversionStrategy
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.storage.history import StoredEntry

UNSTORED = 0
"""The revision of an entry that was never stored: a dry run's."""

_HEAD = b'{"apiVersion":"%b","kind":"%b","metadata":{"resourceVersion":"'
_BARE = b'{"metadata":{"resourceVersion":"'
_PARTIAL = b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/%b","metadata":%b}'
_NAMES = frozenset({"apiVersion", "kind"})
_HEADER = frozenset({"apiVersion", "kind", "metadata"})
_NOTHING: Mapping[str, str] = {}

M = TypeVar("M")


class _Partial(msgspec.Struct):
    metadata: msgspec.Raw


_partial = msgspec.json.Decoder(_Partial)


def pack(kind: Kind, obj: JsonObject, rv: int = UNSTORED) -> StoredEntry:
    """An object as an entry, to be stored or only to be answered."""
    to_storage = kind.strategy.conversion.to_storage
    stored = obj if to_storage is None else to_storage(obj)
    labels = stored["metadata"].get("labels") or _NOTHING
    return StoredEntry(_raw(stored), rv, labels, _field_values(kind, stored))


def unpack(kind: Kind, entry: StoredEntry) -> JsonObject:
    """An object as its kind shows it, fresh and mutable."""
    resource = kind.resource
    stored: JsonObject = msgspec.json.decode(b"%b%d%b" % (_BARE, entry.rv, entry.raw))
    conversion = kind.strategy.conversion
    shown = stored if conversion.from_storage is None else conversion.from_storage(stored)
    obj: JsonObject = {"apiVersion": resource.api_version, "kind": resource.kind, **shown}
    if _outdated(conversion, entry) and conversion.migrate is not None:
        conversion.migrate(obj)
    return obj


def field_values_of(kind: Kind, entry: StoredEntry) -> Mapping[str, str]:
    """What an entry is selected by, as its kind sees it now."""
    return _field_values(kind, unpack(kind, entry))


def read(entry: StoredEntry, model: type[M]) -> M:
    """An entry's part that a model declares, whatever its kind."""
    return msgspec.json.decode(b"%b%d%b" % (_BARE, entry.rv, entry.raw), type=model)


def is_document(entry: StoredEntry) -> bool:
    """Whether an entry can be read at all; nothing is made of it."""
    try:
        _skipper.decode(b"%b%d%b" % (_BARE, entry.rv, entry.raw))
    except (msgspec.MsgspecError, UnicodeError):
        return False
    return True


_skipper = msgspec.json.Decoder(msgspec.Raw)


class ObjectEncoder(Struct, frozen=True):
    """How the objects of a kind are written for a client."""

    kind: Kind
    partial: bool = False
    """Metadata only."""
    version: str = "v1"
    """Of meta.k8s.io, if it is not the object itself that is written."""
    head: bytes = b""
    """What an object begins with: it follows from the kind."""

    def __post_init__(self) -> None:
        resource = self.kind.resource
        names = (resource.api_version.encode(), resource.kind.encode())
        force_setattr(self, "head", _HEAD % names)

    def encode(self, entry: StoredEntry, rv: int = 0) -> bytes:
        """The object by itself; `rv` replaces the revision of its last write."""
        if self.is_raw(entry):
            return b"%b%d%b" % (self.head, rv or entry.rv, entry.raw)
        return self._slow(entry, rv)

    def encode_item(self, entry: StoredEntry) -> bytes:
        """The object in a list: built-in kinds do not repeat their kind there."""
        if self.kind.custom or self.partial:
            return self.encode(entry)
        if self.is_raw(entry):
            return b"%b%d%b" % (_BARE, entry.rv, entry.raw)
        shown = unpack(self.kind, entry)
        return msgspec.json.encode({key: shown[key] for key in shown if key not in _NAMES})

    @property
    def is_converted(self) -> bool:
        """Whether something else than the objects themselves is written."""
        return self.partial

    def encode_list(self, metadata: JsonObject, items: Iterable[bytes]) -> bytes:
        """A list of items already written."""
        name, version = self._names
        listed = f"{name}List" if self.partial else self.kind.list_kind
        head = msgspec.json.encode({"kind": listed, "apiVersion": version})[:-1]
        about = msgspec.json.encode(metadata)
        return b'%b,"metadata":%b,"items":[%b]}\n' % (head, about, b",".join(items))

    def begin(self, chunk: bytes) -> bytes:
        """What a stream, or an answer of one object, begins with."""
        return chunk

    def bookmark(self, rv: int, annotations: Mapping[str, str]) -> bytes:
        """An object that only tells a revision."""
        metadata: JsonObject = {"resourceVersion": str(rv)}
        if annotations:
            metadata["annotations"] = annotations
        name, version = self._names
        return msgspec.json.encode({"kind": name, "apiVersion": version, "metadata": metadata})

    @property
    def _names(self) -> tuple[str, str]:
        if self.partial:
            return "PartialObjectMetadata", f"meta.k8s.io/{self.version}"
        return self.kind.resource.kind, self.kind.resource.api_version

    def is_raw(self, entry: StoredEntry) -> bool:
        """Whether an entry is written as it is, which never fails."""
        conversion = self.kind.strategy.conversion
        special = self.partial or conversion.from_storage or entry.rv == UNSTORED
        return not (special or _outdated(conversion, entry))

    def _slow(self, entry: StoredEntry, rv: int) -> bytes:
        obj = unpack(self.kind, entry)
        if rv or entry.rv:
            obj["metadata"]["resourceVersion"] = str(rv or entry.rv)
        else:
            del obj["metadata"]["resourceVersion"]
        raw = msgspec.json.encode(obj)
        if not self.partial:
            return raw
        return _PARTIAL % (self.version.encode(), bytes(_partial.decode(raw).metadata))


def _outdated(conversion: ConversionStrategy, entry: StoredEntry) -> bool:
    """Whether the kind's schema changed since the entry was written."""
    return UNSTORED < entry.rv <= conversion.outdated_until


def _raw(obj: JsonObject) -> bytes:
    metadata = {key: value for key, value in obj["metadata"].items() if key != "resourceVersion"}
    rest = {key: value for key, value in obj.items() if key not in _HEADER}
    return b'"' + _continued(metadata) + _continued(rest)


def _continued(members: Mapping[str, Any]) -> bytes:
    """The members of a JSON object after others, with the closing brace."""
    raw = msgspec.json.encode(members)
    return b"," + raw[1:] if members else b"}"


def _field_values(kind: Kind, stored: JsonObject) -> Mapping[str, str]:
    labels = kind.field_labels
    values = {path: _text(stored, path) or absent for path, absent in labels.values.items()}
    for path, other in labels.fallbacks.items():
        values[path] = values[path] or values[other]
    return values or _NOTHING


def _text(obj: Any, path: str) -> str:
    for part in path.split("."):
        obj = obj.get(part) if isinstance(obj, dict) else None
    if isinstance(obj, bool):
        return "true" if obj else "false"
    return "" if obj is None else str(obj)
