"""ValidateStructural: every field has a type, and logic only narrows what is typed.

The complaints about a schema come sorted, as a real server sorts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from quintant.cluster.apiserver.golang.regexp import BadPattern, matcher
from quintant.cluster.apiserver.meta.field_errors import forbidden, invalid, required
from quintant.cluster.apiserver.schema.prune import EMBEDDED, PRESERVE
from quintant.core.errors import Cause

Schema = Mapping[str, Any]
INT_OR_STRING = "x-kubernetes-int-or-string"
RULES = "x-kubernetes-validations"
_EITHER = [{"type": "integer"}, {"type": "string"}]


class _Level(Enum):
    """Where a schema is; the text says what lacks a type there."""

    ROOT = "must not be empty at the root"
    ITEM = "must not be empty for specified array items"
    FIELD = "must not be empty for specified object fields"


# Keywords that a schema inside a logical combination may not have, with what is said of each.
_NESTED = {
    "type": "must be empty to be structural",
    "additionalProperties": "must be undefined to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    PRESERVE: "must be false to be structural",
    EMBEDDED: "must be false to be structural",
    INT_OR_STRING: "must be false to be structural",
    "x-kubernetes-list-map-keys": "must be empty to be structural",
    "x-kubernetes-list-type": "must be undefined to be structural",
    "x-kubernetes-map-type": "must be undefined to be structural",
    RULES: "must be empty to be structural",
}
# Keywords no schema may have, as they are named in the complaint.
_UNSUPPORTED = {
    "id": "id",
    "$schema": "schema",
    "$ref": "$ref",
    "patternProperties": "patternProperties",
    "dependencies": "dependencies",
    "additionalItems": "additionalItems",
    "definitions": "definitions",
}


def unsupported_keyword(schema: Schema) -> str:
    """Why a schema has no structure at all; empty if it has one."""
    for keyword, name in _UNSUPPORTED.items():
        if schema.get(keyword):
            return f"OpenAPIV3Schema '{name}' is not supported"
    if isinstance(schema.get("items"), list):
        return "OpenAPIV3Schema 'items' must be a schema, but is an array"
    if schema.get(PRESERVE) is False:
        return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
    return next(filter(None, (unsupported_keyword(each) for _, each in below(schema))), "")


def below(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Every schema right below one, and the way to it."""
    for name, each in (schema.get("properties") or {}).items():
        yield f".properties[{name}]", each
    for keyword in ("items", "additionalProperties", "not"):
        if isinstance(schema.get(keyword), dict):
            yield f".{keyword}", schema[keyword]
    for keyword in ("allOf", "anyOf", "oneOf"):
        for at, each in enumerate(schema.get(keyword) or ()):
            yield f".{keyword}[{at}]", each


def validate_structural(schema: Schema, path: str) -> list[Cause]:
    """What keeps a schema from being structural."""
    causes = [*_invariants(schema, _Level.ROOT, path), *_complete(schema, schema, path, path)]
    return sorted(causes, key=lambda cause: f"{cause.field}: {cause.message}")


def _invariants(schema: Schema, level: _Level, path: str) -> Iterator[Cause]:
    items, properties = schema.get("items"), schema.get("properties") or {}
    if schema.get("type") == "array" and items is None:
        yield required(f"{path}.items", "must be specified")
    if isinstance(items, dict):
        yield from _invariants(items, _Level.ITEM, f"{path}.items")
    for name, each in properties.items():
        yield from _invariants(each, _Level.FIELD, f"{path}.properties[{name}]")
    yield from _additional(schema, level, path)
    yield from _extensions(schema, path)
    yield from _logic(schema, path)
    yield from _type(schema, level, path)
    if level is _Level.ROOT or schema.get(EMBEDDED):
        yield from _meta(properties, path)
    if level is _Level.ROOT and "metadata" in properties:
        yield from _root_metadata(properties["metadata"], f"{path}.properties[metadata]")
    if schema.get(EMBEDDED) and not schema.get(PRESERVE) and not properties:
        text = "must not be empty if x-kubernetes-embedded-resource is true without"
        yield required(f"{path}.properties", f"{text} x-kubernetes-preserve-unknown-fields")


def _additional(schema: Schema, level: _Level, path: str) -> Iterator[Cause]:
    additional, field_path = schema.get("additionalProperties"), f"{path}.additionalProperties"
    if additional is None:
        return
    if level is _Level.ROOT:
        yield forbidden(field_path, "must not be used at the root")
    if isinstance(additional, dict):
        yield from _invariants(additional, _Level.FIELD, field_path)
    if schema.get(EMBEDDED):
        text = "must not be used if x-kubernetes-embedded-resource is set"
        yield forbidden(field_path, text)


def _extensions(schema: Schema, path: str) -> Iterator[Cause]:
    if schema.get(INT_OR_STRING):
        for keyword in (PRESERVE, EMBEDDED):
            if schema.get(keyword):
                text = "must be false if x-kubernetes-int-or-string is true"
                yield invalid(f"{path}.{keyword}", True, text)


def _type(schema: Schema, level: _Level, path: str) -> Iterator[Cause]:
    found, field_path = schema.get("type") or "", f"{path}.type"
    if schema.get(EMBEDDED) and found != "object":
        text = "must be object if x-kubernetes-embedded-resource is true"
        yield invalid(field_path, found, text) if found else required(field_path, text)
    elif not found and not schema.get(INT_OR_STRING) and not schema.get(PRESERVE):
        yield required(field_path, level.value)
    if level is _Level.ROOT and found and found != "object":
        yield invalid(field_path, found, "must be object at the root")


def _meta(properties: Schema, path: str) -> Iterator[Cause]:
    wanted = (("kind", "string"), ("apiVersion", "string"), ("metadata", "object"))
    for name, type_ in wanted:
        found = (properties.get(name) or {}).get("type") or ""
        if name in properties and found != type_:
            yield invalid(f"{path}.properties[{name}].type", found, f"must be {type_}")


def _root_metadata(metadata: Schema, path: str) -> Iterator[Cause]:
    """Of an object's own metadata a schema may restrict the names only."""
    properties = metadata.get("properties") or {}
    more = {key for key, value in metadata.items() if value} - {"type", "properties", "default"}
    if more or not set(properties) <= {"name", "generateName"}:
        text = "must not specify anything other than name and generateName, but metadata is"
        yield forbidden(path, f"{text} implicitly specified")


def _logic(schema: Schema, path: str, *, either: bool = False) -> Iterator[Cause]:
    """The combinations in a schema; the two spellings of int-or-string are exempt."""
    first = (schema.get("allOf") or [{}])[0].get("anyOf")
    if not (either or schema.get("anyOf") == _EITHER):
        for at, each in enumerate(schema.get("anyOf") or ()):
            yield from _nested(each, f"{path}.anyOf[{at}]")
    for at, each in enumerate(schema.get("allOf") or ()):
        exempt = at == 0 and first == _EITHER
        yield from _nested(each, f"{path}.allOf[{at}]", either=exempt)
    for at, each in enumerate(schema.get("oneOf") or ()):
        yield from _nested(each, f"{path}.oneOf[{at}]")
    if isinstance(schema.get("not"), dict):
        yield from _nested(schema["not"], f"{path}.not")
    if schema.get("pattern"):
        yield from _pattern(schema["pattern"], f"{path}.pattern")


def _pattern(pattern: str, path: str) -> Iterator[Cause]:
    try:
        matcher(pattern)
    except BadPattern as error:
        text = f"must be a valid regular expression, but isn't: {error}"
        yield invalid(path, pattern, text)


def _nested(schema: Schema, path: str, *, either: bool = False) -> Iterator[Cause]:
    yield from _logic(schema, path, either=either)
    if isinstance(schema.get("items"), dict):
        yield from _nested(schema["items"], f"{path}.items")
    properties = schema.get("properties") or {}
    for name, each in properties.items():
        yield from _nested(each, f"{path}.properties[{name}]")
    for keyword, text in _NESTED.items():
        if schema.get(keyword) or (keyword == "default" and schema.get(keyword) is not None):
            yield forbidden(f"{path}.{keyword}", text)
    if "metadata" in properties:
        text = "must not be specified in a nested context"
        yield forbidden(f"{path}.properties[metadata]", text)


def _complete(schema: Schema, spine: Schema | None, field_path: str, path: str) -> Iterator[Cause]:
    """What logic is about must also be said outside of it."""
    if spine is None:
        yield required(field_path, f"because it is defined in {path}")
        return
    for keyword in ("not", "allOf", "anyOf", "oneOf"):
        found = schema.get(keyword) or ()
        for at, each in enumerate([found] if isinstance(found, dict) else found):
            index = "" if isinstance(found, dict) else f"[{at}]"
            yield from _complete_nested(each, spine, field_path, f"{path}.{keyword}{index}")


def _complete_nested(
    schema: Schema, spine: Schema | None, field_path: str, path: str
) -> Iterator[Cause]:
    if spine is None:
        yield required(field_path, f"because it is defined in {path}")
        return
    yield from _complete(schema, spine, field_path, path)
    if isinstance(schema.get("items"), dict):
        items = spine.get("items")
        yield from _complete_nested(schema["items"], items, f"{field_path}.items", f"{path}.items")
    properties = spine.get("properties") or {}
    for name, each in (schema.get("properties") or {}).items():
        step = f".properties[{name}]"
        yield from _complete_nested(each, properties.get(name), field_path + step, path + step)
