"""NewStructural: schemas of definitions, compiled when first used and shared where equal.

Most definitions of a cluster have no object that anybody writes, and a schema at work takes thirty
times the memory of its text. So what is served holds the text, compressed, and a schema is compiled
for the first object that needs it: beside the loop if it is large, because until then all of its
text counts as a part of each request (`CompiledSchema.cost`). What is wrong with a schema is found
out before, when its definition is written (quintant.cluster.apiserver.crd.validate).
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any
from weakref import WeakValueDictionary

import msgspec

from quintant.cluster.apiserver.crd.strategy import CustomSchema
from quintant.cluster.apiserver.kinds.strategy import (
    ConversionStrategy,
    Strategy,
    UpdateStrategy,
    ValidationStrategy,
)
from quintant.cluster.apiserver.meta.types import JsonObject, ValidationResult
from quintant.cluster.apiserver.structuredmerge.atoms import AtomKind
from quintant.cluster.apiserver.structuredmerge.schema import (
    ListType,
    MergeSchema,
    custom_schema,
)
from quintant.core.errors import Cause
from quintant.core.resource import Scale

SCHEMA_SHARE = 16
"""One byte of so many in a schema counts as one of each object: most of it is about what an object
does not have, but what has to be added to one may be all of it."""
FASTEST = 1
"""The level of compression: schemas repeat themselves, and better ones take four times as long."""
_DESCRIPTIONS = frozenset({"description", "example", "externalDocs", "title"})
"""Keywords that no object is held to."""
_UPDATE = UpdateStrategy(status_updates_metadata=False)


class CompiledSchema:
    """The schema of a version: its text, and what is made of it once an object needs it."""

    def __init__(self, raw: bytes, scale: Scale | None) -> None:
        self._digest = sha256(raw).digest()
        self._text = zlib.compress(raw, FASTEST)
        self._size = len(raw)
        self._scale = scale
        self._custom: CustomSchema | None = None
        self._merge: MergeSchema | None = None

    @property
    def digest(self) -> bytes:
        """The same for the same text."""
        return self._digest

    @property
    def cost(self) -> int:
        """What looking at any object takes beside its own size, in bytes."""
        return self._size if self._custom is None else self._size // SCHEMA_SHARE

    @property
    def is_compiled(self) -> bool:
        """Whether an object has needed it."""
        return self._custom is not None

    @property
    def custom(self) -> CustomSchema:
        """The schema at work. Two threads may compile it at once: either result will do."""
        if self._custom is None:
            self._custom = CustomSchema(_without_descriptions(self.document()), self._scale)
        return self._custom

    @property
    def merge_schema(self) -> MergeSchema:
        """The shape of its objects for who merges them."""
        if self._merge is None:
            self._merge = custom_schema(self.document())
        return self._merge

    def document(self) -> dict[str, Any]:
        """The schema as it was written, read again each time."""
        found: dict[str, Any] = msgspec.json.decode(zlib.decompress(self._text))
        return found

    def strategy(self, conversion: ConversionStrategy) -> Strategy:
        """How a custom resource of this schema behaves, given how it is converted."""
        return Strategy(
            update=_UPDATE,
            conversion=conversion,
            validation=ValidationStrategy(validate_custom=self._validate),
            tracks_generation=True,
            prune=self._prune,
            default=self._default,
        )

    def _validate(
        self, obj: JsonObject, live: JsonObject | None, sub: str, causes: Sequence[Cause]
    ) -> ValidationResult:
        return self.custom.validate(obj, live, sub, causes)

    def _prune(self, obj: JsonObject) -> list[str]:
        return self.custom.prune(obj)

    def _default(self, obj: JsonObject) -> None:
        self.custom.default(obj)


class LazyMergeSchema:
    """The shape of the objects of a schema that need not be compiled yet."""

    def __init__(self, compiled: CompiledSchema) -> None:
        self._compiled = compiled

    @property
    def atom(self) -> AtomKind:
        return self._compiled.merge_schema.atom

    @property
    def atomic(self) -> bool:
        return self._compiled.merge_schema.atomic

    @property
    def list_type(self) -> ListType:
        return self._compiled.merge_schema.list_type

    @property
    def keys(self) -> Mapping[str, Any]:
        return self._compiled.merge_schema.keys

    @property
    def closed(self) -> bool:
        return self._compiled.merge_schema.closed

    def declares(self, name: str) -> bool:
        return self._compiled.merge_schema.declares(name)

    def child(self, name: str) -> MergeSchema:
        return self._compiled.merge_schema.child(name)

    def item(self) -> MergeSchema:
        return self._compiled.merge_schema.item()


def compile_schema(schema: Mapping[str, Any], scale: Scale | None) -> CompiledSchema:
    """What is made of a schema; the same for the same, as long as any definition has it."""
    raw = msgspec.json.encode(schema)
    key = (sha256(raw).digest(), scale)
    found = _SHARED.get(key)
    if found is None:
        found = _SHARED[key] = CompiledSchema(raw, scale)
    return found


_SHARED: WeakValueDictionary[tuple[bytes, Scale | None], CompiledSchema] = WeakValueDictionary()


def _without_descriptions(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema that says no more than objects are held to."""
    found = {name: value for name, value in schema.items() if name not in _DESCRIPTIONS}
    if isinstance(properties := schema.get("properties"), dict):
        found["properties"] = {
            name: _without_descriptions(below) for name, below in properties.items()
        }
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            found[name] = _without_descriptions(schema[name])
    return found
