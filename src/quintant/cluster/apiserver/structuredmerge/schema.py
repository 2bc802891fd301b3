"""schema.TypeDef, schema.Atom: the structure of objects, as merging and ownership need it.

A `MergeSchema` says of one place in an object whether a map there is merged key by key, whether a
list is one value, a set or a map of its items, and which names are declared fields. Ownership
depends on the last point: a declared field is not owned for merely being there, a map's key is.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Protocol

from msgspec import Struct, field

from quintant.cluster.apiserver.structuredmerge.atoms import AtomKind
from quintant.cluster.apiserver.structuredmerge.fieldset import Path, shown

_PRESERVE = "x-kubernetes-preserve-unknown-fields"


class ListType(Enum):
    """How the items of a list are told apart."""

    ATOMIC = "atomic"
    SET = "set"
    MAP = "map"


class TypingError(Exception):
    """An object does not fit its shape: an item without its key, or the same key twice."""

    def __init__(self, why: str, path: Path = ()) -> None:
        super().__init__(why)
        self.faults: list[tuple[Path, str]] = [(path, why)]

    @classmethod
    def joined(cls, errors: list[TypingError]) -> TypingError:
        """Several of them as one."""
        found = errors[0]
        found.faults = [fault for error in errors for fault in error.faults]
        return found

    def below(self, element: str) -> TypingError:
        """The same, seen from further up."""
        self.faults = [((element, *path), why) for path, why in self.faults]
        return self

    def __str__(self) -> str:
        messages = [f"{shown(path)}: {why}" for path, why in self.faults]
        return messages[0] if len(messages) == 1 else "\n  ".join(("errors:", *messages))


class MergeSchema(Protocol):
    """One place in an object."""

    @property
    def atom(self) -> AtomKind:
        """What may stand here."""

    @property
    def atomic(self) -> bool:
        """Whether a map here is one value."""

    @property
    def list_type(self) -> ListType:
        """How a list here is merged."""

    @property
    def keys(self) -> Mapping[str, Any]:
        """The fields that identify an item of a map-like list, with their defaults (or None)."""

    @property
    def closed(self) -> bool:
        """Whether a map here may have declared fields only."""

    def declares(self, name: str) -> bool:
        """Whether a name is a declared field, not a key of a map."""

    def child(self, name: str) -> MergeSchema:
        """The shape below a field or key."""

    def item(self) -> MergeSchema:
        """The shape of a list's items."""


class DeclaredSchema(Struct, frozen=True):
    """A shape written down: declared fields, and what is below everything else."""

    fields: Mapping[str, MergeSchema] = field(default_factory=dict)
    atom: AtomKind = AtomKind.ANY
    atomic: bool = False
    closed: bool = False
    list_type: ListType = ListType.ATOMIC
    keys: Mapping[str, Any] = field(default_factory=dict)
    rest: MergeSchema | None = None
    items: MergeSchema | None = None

    def declares(self, name: str) -> bool:
        return name in self.fields

    def child(self, name: str) -> MergeSchema:
        return self.fields.get(name) or self.rest or DEDUCED

    def item(self) -> MergeSchema:
        return self.items or DEDUCED


DEDUCED: MergeSchema = DeclaredSchema()
"""Nothing is known: maps merge, lists are values."""

_TEXT, _NUMBER, _TRUTH = (
    DeclaredSchema(atom=AtomKind.TEXT),
    DeclaredSchema(atom=AtomKind.NUMBER),
    DeclaredSchema(atom=AtomKind.TRUTH),
)
_TEXTS = DeclaredSchema(atom=AtomKind.MAP, rest=_TEXT)
_OWNER = DeclaredSchema(
    fields={
        **dict.fromkeys(("apiVersion", "kind", "name", "uid"), _TEXT),
        **dict.fromkeys(("controller", "blockOwnerDeletion"), _TRUTH),
    },
    atom=AtomKind.MAP,
    atomic=True,
    closed=True,
)
METADATA = DeclaredSchema(
    fields={
        **dict.fromkeys(("name", "generateName", "namespace", "uid", "selfLink"), _TEXT),
        **dict.fromkeys(("resourceVersion", "creationTimestamp", "deletionTimestamp"), _TEXT),
        **dict.fromkeys(("generation", "deletionGracePeriodSeconds"), _NUMBER),
        "managedFields": DeclaredSchema(atom=AtomKind.LIST),
        "labels": _TEXTS,
        "annotations": _TEXTS,
        "finalizers": DeclaredSchema(atom=AtomKind.LIST, list_type=ListType.SET, items=_TEXT),
        "ownerReferences": DeclaredSchema(
            atom=AtomKind.LIST, list_type=ListType.MAP, keys={"uid": ""}, items=_OWNER
        ),
    },
    atom=AtomKind.MAP,
    closed=True,
)
"""The metadata every object has."""


def custom_schema(schema: Mapping[str, Any]) -> MergeSchema:
    """The shape of a custom resource: its schema's, with everybody's metadata at the root."""
    root = _from_schema(schema)
    return DeclaredSchema(
        fields={**root.fields, "apiVersion": _TEXT, "kind": _TEXT, "metadata": METADATA},
        atom=AtomKind.MAP,
        closed=root.closed,
        rest=root.rest,
    )


def _from_schema(schema: Mapping[str, Any]) -> DeclaredSchema:
    if schema.get("x-kubernetes-embedded-resource"):
        embedded = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": METADATA}
    else:
        embedded = {}
    properties = schema.get("properties") or {}
    below = {name: _from_schema(child) for name, child in properties.items()}
    additional = schema.get("additionalProperties")
    items = schema.get("items")
    return DeclaredSchema(
        fields=below | embedded,
        atom=_sort(schema),
        atomic=schema.get("x-kubernetes-map-type") == "atomic",
        closed=bool(properties) and not additional and not schema.get(_PRESERVE),
        list_type=ListType(schema.get("x-kubernetes-list-type", "atomic")),
        keys=_keys(schema),
        rest=_from_schema(additional) if isinstance(additional, dict) else None,
        items=_from_schema(items) if isinstance(items, dict) else None,
    )


_SORTS = {
    "object": AtomKind.MAP,
    "array": AtomKind.LIST,
    "string": AtomKind.TEXT,
    "integer": AtomKind.NUMBER,
    "number": AtomKind.NUMBER,
    "boolean": AtomKind.TRUTH,
}


def _sort(schema: Mapping[str, Any]) -> AtomKind:
    if schema.get("x-kubernetes-int-or-string"):
        return AtomKind.ANY
    return _SORTS.get(schema.get("type", ""), AtomKind.ANY)


def _keys(schema: Mapping[str, Any]) -> dict[str, Any]:
    items = schema.get("items")
    properties = (items.get("properties") or {}) if isinstance(items, dict) else {}
    names = schema.get("x-kubernetes-list-map-keys") or ()
    return {name: properties.get(name, {}).get("default") for name in names}
