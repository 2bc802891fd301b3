"""ValidateCustomResourceDefinitionOpenAPISchema: structural, with valid defaults and rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.meta.field_errors import forbidden, invalid
from quintant.cluster.apiserver.meta.formats import recognized
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.schema.defaults import validate_defaults
from quintant.cluster.apiserver.schema.keywords import validate_keywords
from quintant.cluster.apiserver.schema.structural import (
    below,
    unsupported_keyword,
    validate_structural,
)
from quintant.core.errors import Cause

_ROOT_ALLOWED = (
    "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength "
    "MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties "
    "ExternalDocs Example XPreserveUnknownFields XValidations"
)
_ROOT_KEYWORDS = frozenset(
    {
        *("description", "type", "format", "title", "maximum", "exclusiveMaximum", "minimum"),
        *("exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems", "minItems"),
        *("uniqueItems", "multipleOf", "required", "items", "properties", "externalDocs"),
        *("example", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations"),
    }
)


def validate_schema(schema: Mapping[str, Any], path: str, *, status: bool) -> Iterator[Cause]:
    """What is wrong with a schema."""
    causes = list(_root(schema, path, status=status))
    unstructured = unsupported_keyword(schema)
    if not unstructured:
        causes += validate_structural(schema, path)
        # Defaults and rules are validated by the schema: it has to be one.
        unsound = bool(causes)
        causes += () if unsound else validate_defaults(schema, path)
    rules = not unstructured and not causes
    causes += validate_keywords(schema, path, rules=rules)
    if unstructured and not causes:
        causes.append(invalid(path, "", unstructured))
    yield from causes


def _root(schema: Mapping[str, Any], path: str, *, status: bool) -> Iterator[Cause]:
    if status:
        found = schema.get("type")
        if found and found != "object":
            text = 'only "object" is allowed as the type at the root of the schema if the status'
            yield invalid(f"{path}.type", found, f"{text} subresource is enabled")
        elif not _ROOT_KEYWORDS.issuperset(schema):
            text = "fields are allowed at the root of the schema if the status subresource is"
            yield invalid(path, dict(schema), f"only [{_ROOT_ALLOWED}] {text} enabled")
    if schema.get("nullable"):
        yield forbidden(f"{path}.nullable", "nullable cannot be true at the root")


def format_warnings(crd: JsonObject, live: JsonObject | None) -> list[str]:
    """Warnings about formats that mean nothing and were not there before."""
    before = set() if live is None else set(_odd_formats(live["spec"]))
    odd = [name for name in _odd_formats(crd["spec"]) if name not in before]
    return [f"unrecognized format {quoted(name)}" for name in odd]


def _odd_formats(spec: JsonObject) -> Iterator[str]:
    for version in spec.get("versions") or ():
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema:
            yield from _odd_formats_of(schema)


def _odd_formats_of(schema: Mapping[str, Any]) -> Iterator[str]:
    name = schema.get("format")
    if name and not recognized(schema.get("type") or "", name):
        yield name
    for _, each in below(schema):
        yield from _odd_formats_of(each)
