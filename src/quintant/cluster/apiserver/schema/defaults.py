"""ValidateDefaults: defaults in schemas: pruned, and valid by the schema itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from quintant.cluster.apiserver.go_types.coerce import CoercionError
from quintant.cluster.apiserver.meta.correlate import ABSENT, same
from quintant.cluster.apiserver.meta.field_errors import invalid
from quintant.cluster.apiserver.schema import embedded_objects
from quintant.cluster.apiserver.schema.cel_validate import ValidationRules
from quintant.cluster.apiserver.schema.prune import EMBEDDED, META, prune, structural_schema
from quintant.cluster.apiserver.schema.structural import RULES
from quintant.cluster.apiserver.schema.validate import SchemaValidator
from quintant.core.errors import Cause

Schema = Mapping[str, Any]


def validate_defaults(schema: Schema, path: str) -> Iterator[Cause]:
    """What is wrong with the defaults of a schema and of those below it."""
    yield from _below({**schema, EMBEDDED: True}, path)


def _below(schema: Schema, path: str) -> Iterator[Cause]:
    if schema.get("default") is not None:
        yield from _default(schema, schema["default"], f"{path}.default")
    if isinstance(schema.get("items"), dict):
        yield from _below(schema["items"], f"{path}.items")
    for name, each in (schema.get("properties") or {}).items():
        if not (schema.get(EMBEDDED) and name in META):
            yield from _below(each, f"{path}.properties[{name}]")


def _default(schema: Schema, value: Any, path: str) -> Iterator[Cause]:
    structural = structural_schema(schema)
    pruned = _copy(value)
    prune(pruned, structural)
    if not same(pruned, value):
        yield invalid(path, value, "must not have unknown fields")
    try:
        embedded_objects.coerce_embedded(_copy(value), structural, path)
    except CoercionError as error:
        field, _, text = str(error).partition(": ")
        yield Cause("FieldValueInvalid", text, field)
        return
    causes = list(
        embedded_objects.validate_embedded_objects(value, structural, path)
    ) or SchemaValidator(schema)(value, prefix=path)
    yield from causes
    blank = any(not (rule.get("rule") or "").strip() for rule in schema.get(RULES) or ())
    if not causes and not blank:
        yield from _broken(schema, value, path)


def _broken(schema: Schema, value: Any, path: str) -> Iterator[Cause]:
    """The rules that a default does not follow, or the one that nothing can follow."""
    try:
        rules = ValidationRules.compile(schema, root=False)
    except ValueError as error:  # BadRule: its module would load the language, which takes 12 MB
        yield invalid(path, schema.get("type") or "", f"rule compile error: {error}")
        return
    if rules is not None:
        yield from (
            rules.validate(value, value, path).errors or rules.validate(value, ABSENT, path).errors
        )


def _copy(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))
