"""specStandardValidatorV3: keywords of a schema: which are supported, and which go together.

Rules are looked at only where the schema itself is sound, and get the types it declares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from quintant.cluster.apiserver.meta.field_errors import (
    forbidden,
    invalid,
    not_supported,
    required,
)
from quintant.cluster.apiserver.schema.cel_budget import Cardinality, CostBudget, RuleSite
from quintant.cluster.apiserver.schema.list_types import validate_list_type
from quintant.cluster.apiserver.schema.prune import EMBEDDED, META, PRESERVE
from quintant.cluster.apiserver.schema.structural import RULES
from quintant.core.errors import Cause

Schema = Mapping[str, Any]
TYPES = ("array", "boolean", "integer", "number", "object", "string")
_FORBIDDEN = (
    *("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"),
)


class _Position(Struct, frozen=True):
    """Where a schema is, and what is true there."""

    path: str
    defaults: str | None = ""
    """Why there may be no defaults; empty where there may be."""
    meta: bool = False
    """It describes the metadata of a resource."""
    uncorrelated: str = ""
    """The schema above whose values have no counterpart in an older object."""
    cardinality: Cardinality | None = field(default_factory=Cardinality)
    """How often it can occur; None where rules are not looked at."""
    root: bool = False

    def below(self, step: str, **more: Any) -> _Position:
        return replace(self, path=self.path + step, root=False, **more)


def validate_keywords(schema: Schema, path: str, *, rules: bool) -> Iterator[Cause]:
    """What is wrong with the keywords of a schema, and with its rules if they are looked at."""
    budget = CostBudget()
    cardinality = Cardinality(1) if rules else None
    walk = _walk(schema, _Position(path, cardinality=cardinality, root=True), budget)
    yield from walk.schema
    yield from walk.rules
    if rules:
        yield from budget.errors(path)


class _Errors(Struct):
    """Complaints about schemas and about rules, which are told last."""

    schema: list[Cause] = field(default_factory=list)
    rules: list[Cause] = field(default_factory=list)

    def add(self, other: _Errors) -> None:
        self.schema += other.schema
        self.rules += other.rules


def _walk(schema: Schema, position: _Position, budget: CostBudget) -> _Errors:
    errors = _Errors([*_keywords(schema, position), *_additional(schema, position)])
    for each, child_position in _below(schema, position):
        errors.add(_walk(each, child_position, budget))
    errors.schema += _extensions(schema, position.path)
    errors.schema += validate_list_type(schema, position.path)
    if schema.get(RULES):
        _judge_rules(schema, position, budget, errors)
    return errors


def _judge_rules(schema: Schema, position: _Position, budget: CostBudget, errors: _Errors) -> None:
    # The language takes 12 MB, and many definitions have no rules.
    from quintant.cluster.apiserver.schema.cel_expressions import (
        validate_rule_texts,
        validate_rules,
    )

    errors.schema += validate_rule_texts(schema, position.path)
    if not errors.schema and position.cardinality is not None:
        whole = position.root or bool(schema.get(EMBEDDED))
        site = RuleSite(position.path, whole, position.uncorrelated, position.cardinality, budget)
        errors.rules += validate_rules(schema, site)


def _keywords(schema: Schema, position: _Position) -> Iterator[Cause]:
    path, found = position.path, schema.get("type")
    if found and found not in TYPES:
        yield not_supported(f"{path}.type", found, TYPES)
    if schema.get("default") is not None and position.defaults:
        yield forbidden(f"{path}.default", f"must not be set {position.defaults}")
    for keyword in _FORBIDDEN:
        if schema.get(keyword) is not None:
            yield forbidden(f"{path}.{keyword}", f"{keyword} is not supported")
    if found == "null":
        text = "type cannot be set to null, use nullable as an alternative"
        yield forbidden(f"{path}.type", text)
    if isinstance(schema.get("items"), list):
        text = "items must be a schema object and not an array"
        yield forbidden(f"{path}.items", text)
    if position.meta and schema.get(EMBEDDED):
        text = "must not be used inside of resource meta"
        yield forbidden(f"{path}.{EMBEDDED}", text)
    if schema.get("uniqueItems"):
        text = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden(f"{path}.uniqueItems", text)


def _additional(schema: Schema, position: _Position) -> Iterator[Cause]:
    additional = schema.get("additionalProperties")
    if additional is not None and additional is not True and schema.get("properties"):
        text = "additionalProperties and properties are mutual exclusive"
        yield forbidden(f"{position.path}.additionalProperties", text)


def _below(schema: Schema, position: _Position) -> Iterator[tuple[Schema, _Position]]:
    inner = position.cardinality.below(schema) if position.cardinality is not None else None
    additional, items = schema.get("additionalProperties"), schema.get("items")
    if isinstance(additional, dict):
        why = "inside additionalProperties applying to object metadata" if position.meta else ""
        child = position.below(".additionalProperties", cardinality=inner)
        yield additional, replace(child, defaults=why or position.defaults)
    for name, each in (schema.get("properties") or {}).items():
        yield each, _property(schema, position, name, inner)
    for keyword in ("not", "allOf", "oneOf", "anyOf"):
        found = schema.get(keyword) or ()
        for at, each in enumerate([found] if isinstance(found, dict) else found):
            index = "" if isinstance(found, dict) else f"[{at}]"
            yield each, position.below(f".{keyword}{index}", cardinality=None)
    if isinstance(items, dict):
        loose = schema.get("x-kubernetes-list-type") != "map"
        above = position.uncorrelated or (position.path if loose else "")
        yield items, position.below(".items", uncorrelated=above, cardinality=inner)


def _property(
    schema: Schema, position: _Position, name: str, inner: Cardinality | None
) -> _Position:
    child = position.below(f".properties[{name}]", cardinality=inner)
    if name in META and (position.root or schema.get(EMBEDDED)):
        why = f"in top-level {name}" if position.root else position.defaults
        return replace(child, meta=True, defaults=why)
    return child


def _extensions(schema: Schema, path: str) -> Iterator[Cause]:
    if schema.get(PRESERVE) is False:
        yield invalid(f"{path}.{PRESERVE}", False, "must be true or undefined")
    found, type_ = schema.get("x-kubernetes-map-type"), schema.get("type") or ""
    if found is None:
        return
    if type_ != "object":
        text = "must be object if x-kubernetes-map-type is specified"
        field_path = f"{path}.type"
        yield invalid(field_path, type_, text) if type_ else required(field_path, text)
    if found not in ("atomic", "granular"):
        yield not_supported(f"{path}.x-kubernetes-map-type", found, ["atomic", "granular"])
