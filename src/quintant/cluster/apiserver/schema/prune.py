"""pruning.Prune, defaulting.Default: unknown fields go, then nulls, then defaults come.

A custom resource is pruned and defaulted whenever it is written, and when it is read if its schema
changed since. `StructuralSchema` is a schema reduced to what this needs, built once per version.
What a value must look like beyond its structure is validation's business, not ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

Schema = Mapping[str, Any]
META = frozenset({"apiVersion", "kind", "metadata"})
PRESERVE = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
_NESTS = (dict, list)


class StructuralSchema(Struct, frozen=True):
    """One place in an object: what may be below it, and what it is when absent."""

    properties: Mapping[str, StructuralSchema] = field(default_factory=dict)
    open: bool = False
    """Any key is allowed, its value having the structure `rest`, if there is one."""
    rest: StructuralSchema | None = None
    items: StructuralSchema | None = None
    preserve: bool = False
    embedded: bool = False
    nullable: bool = False
    default: bytes = b""
    """As JSON; empty if there is none."""
    listing: str = "atomic"
    keys: tuple[str, ...] = ()
    defaults: tuple[str, ...] = ()
    """The properties that have a default."""
    defaulting: bool = False
    """There is a default here or below."""
    embeds: bool = False
    """There is an embedded resource here or below."""
    unique: bool = False
    """There is a list here or below whose items must differ."""

    @property
    def below(self) -> Iterable[StructuralSchema]:
        """Every structure right below this one."""
        yield from self.properties.values()
        yield from (each for each in (self.rest, self.items) if each is not None)

    def child(self, name: str) -> StructuralSchema | None:
        """The structure of a field or key, if anything is said about it."""
        return self.properties.get(name, self.rest)


def structural_schema(schema: Schema) -> StructuralSchema:
    """The structure a schema describes."""
    additional, items = schema.get("additionalProperties"), schema.get("items")
    found = StructuralSchema(
        properties={
            name: structural_schema(s) for name, s in (schema.get("properties") or {}).items()
        },
        open=additional is not None,
        rest=structural_schema(additional) if isinstance(additional, dict) else None,
        items=structural_schema(items) if isinstance(items, dict) else None,
        preserve=bool(schema.get(PRESERVE)),
        embedded=bool(schema.get(EMBEDDED)),
        nullable=bool(schema.get("nullable")),
        default=b"" if schema.get("default") is None else msgspec.json.encode(schema["default"]),
        listing=schema.get("x-kubernetes-list-type") or "atomic",
        keys=tuple(schema.get("x-kubernetes-list-map-keys") or ()),
    )
    return replace(
        found,
        defaults=tuple(name for name, each in found.properties.items() if each.default),
        defaulting=bool(found.default) or any(each.defaulting for each in found.below),
        embeds=found.embedded or any(each.embeds for each in found.below),
        unique=found.listing != "atomic" or any(each.unique for each in found.below),
    )


def resource_schema(schema: Schema) -> StructuralSchema:
    """The structure of whole objects, whose metadata is everybody's."""
    return replace(structural_schema(schema), embedded=True)


def prune(value: Any, schema: StructuralSchema | None) -> list[str]:
    """Drop, in place, fields a structure does not know; their paths, sorted."""
    unknown: list[str] = []
    _prune(value, schema, "", unknown)
    return sorted(unknown)


def drop_nulls(value: Any, schema: StructuralSchema | None) -> None:
    """Drop, in place, nulls that are not allowed and will not be replaced by a default."""
    if schema is None:
        return
    if type(value) is dict:
        for name in [*value]:
            child, below = value[name], schema.child(name)
            if type(child) in _NESTS:
                drop_nulls(child, below)
            elif child is None and below is not None and not (below.nullable or below.default):
                del value[name]
    elif type(value) is list:
        for item in value:
            drop_nulls(item, schema.items)


def default(value: Any, schema: StructuralSchema | None) -> None:
    """Put defaults, in place, where a structure has them and the value has nothing."""
    if schema is None or not schema.defaulting:
        return
    if type(value) is dict:
        for name in schema.defaults:
            below = schema.properties[name]
            if name not in value or (value[name] is None and not below.nullable):
                value[name] = msgspec.json.decode(below.default)
        for name, child in value.items():
            found = schema.child(name)
            if child is None and found is schema.rest and name not in schema.properties:
                value[name] = _replaced(found)
            default(value[name], found)
    elif type(value) is list and schema.items is not None:
        for at, item in enumerate(value):
            if item is None:
                value[at] = _replaced(schema.items)
            default(value[at], schema.items)


def _replaced(schema: StructuralSchema | None) -> Any:
    """What a null is, after defaulting."""
    if schema is None or schema.nullable or not schema.default:
        return None
    return msgspec.json.decode(schema.default)


def _prune(value: Any, schema: StructuralSchema | None, path: str, unknown: list[str]) -> None:
    if schema is not None and schema.preserve:
        _spare(value, schema, path, unknown)
    elif type(value) is dict:
        for name in [*value]:
            _prune_field(value, name, schema, f"{path}.{name}" if path else name, unknown)
    elif type(value) is list:
        for at, item in enumerate(value):
            below = schema.items if schema is not None else None
            _prune(item, below, f"{path}[{at}]", unknown)


def _prune_field(
    value: dict[str, Any], name: str, schema: StructuralSchema | None, path: str, unknown: list[str]
) -> None:
    if schema is not None:
        if schema.embedded and name in META:
            return
        if name in schema.properties or schema.open:
            if type(value[name]) in _NESTS:
                _prune(value[name], schema.child(name), path, unknown)
            return
    del value[name]
    unknown.append(path)


def _spare(value: Any, schema: StructuralSchema, path: str, unknown: list[str]) -> None:
    """Prune only what is declared: the rest is to be kept."""
    if type(value) is dict:
        for name, child in value.items():
            declared = name in schema.properties or schema.open
            if declared and not (schema.embedded and name in META):
                field_path = f"{path}.{name}" if path else name
                _prune(child, schema.child(name), field_path, unknown)
    elif type(value) is list and schema.items is not None:
        for at, item in enumerate(value):
            _spare(item, schema.items, f"{path}[{at}]", unknown)
