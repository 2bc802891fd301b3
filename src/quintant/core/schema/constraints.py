"""What annotations add to the schema of a type: limits, rules, list types, descriptions.

The other half of `runtime.structural`: it gives a bare schema by type, this adds what stands beside
the type in an Annotated. Both work on plain dictionaries, in OpenAPI 3.0's words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Meta

from quintant.core.errors import ConfigError
from quintant.core.resource import CelRule

Schema = dict[str, Any]

PRESERVE = "x-kubernetes-preserve-unknown-fields"
INT_OR_STRING = "x-kubernetes-int-or-string"
RULES = "x-kubernetes-validations"

_LENGTHS = {"string": "Length", "array": "Items", "object": "Properties"}
_LIMITS = {"ge": "minimum", "gt": "minimum", "le": "maximum", "lt": "maximum"}
_EXCLUSIVE = {"gt": "exclusiveMinimum", "lt": "exclusiveMaximum"}
_SAME = {"pattern": "pattern", "multiple_of": "multipleOf", "description": "description"}
# What CEL keeps for itself; as field names they are written between double underscores.
_CEL_WORDS = {
    "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function",
    "if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while",
}  # fmt: skip
_CEL_SIGNS = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}


def constrain(schema: Schema, notes: Sequence[Any], path: str) -> Schema:
    """A schema with all that the metadata of an Annotated says; other metadata is ignored."""
    for note in notes:
        if isinstance(note, Meta):
            schema = schema | _keywords(note, schema.get("type", "string"))
    schema = with_rules(schema, [note for note in notes if isinstance(note, CelRule)])
    schema = _settled(schema, path)
    _check_keys(schema, path)
    return schema


def with_rules(schema: Schema, rules: Sequence[CelRule]) -> Schema:
    """A schema with CEL rules after those it has."""
    both = [*schema.get(RULES, ()), *map(_rendered, rules)]
    return schema | {RULES: both} if both else schema


def presence_rule(field: str) -> CelRule:
    """A rule for the object around a field: once set, the field stays."""
    name = _escaped(field)
    return CelRule(
        f"!has(oldSelf.{name}) || has(self.{name})", f"{field} cannot be removed once set"
    )


def _rendered(rule: CelRule) -> dict[str, str]:
    fields = {
        "rule": rule.rule,
        "message": rule.message,
        "reason": rule.reason,
        "fieldPath": rule.path,
    }
    return {name: value for name, value in fields.items() if value}


def _keywords(meta: Meta, kind: str) -> Schema:
    given = {name: getattr(meta, name) for name in (*_SAME, *_LIMITS)}
    given = {name: value for name, value in given.items() if value is not None}
    found = {(_SAME | _LIMITS)[name]: value for name, value in given.items()}
    found |= {_EXCLUSIVE[name]: True for name in given if name in _EXCLUSIVE}
    for name, limit in (("min", meta.min_length), ("max", meta.max_length)):
        if limit is not None:
            found[name + _LENGTHS[kind]] = limit
    return found | (meta.extra_json_schema or {})


def _settled(schema: Schema, path: str) -> Schema:
    """Resolve what one keyword means for others."""
    if warning := schema.pop("deprecated", ""):
        text = schema.get("description", "")
        schema["description"] = f"{text}\n\nDeprecated: {warning}".strip()
    if schema.get(INT_OR_STRING):
        if "type" in schema:
            raise ConfigError(
                f"cannot describe {path}",
                because=f"int_or_string() stands beside the type {schema['type']}",
                hint="give the field the type int | str",
            )
        schema.pop(PRESERVE, None)
    return schema


def _check_keys(schema: Schema, path: str) -> None:
    item = schema.get("items", {})
    properties = item.get("properties", {})
    for key in schema.get("x-kubernetes-list-map-keys", ()):
        known = key in item.get("required", ()) or "default" in properties.get(key, {})
        if not known:
            raise ConfigError(
                f"cannot describe {path}",
                because=f"its items have no field {key!r} that is required or has a default",
                hint=f"list_map() of one of: {', '.join(item.get('required', ())) or 'none'}",
            )


def _escaped(field: str) -> str:
    if field in _CEL_WORDS:
        return f"__{field}__"
    return re.sub("__|[./-]", lambda match: _CEL_SIGNS[match[0]], field)
