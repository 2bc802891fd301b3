"""cel.Validator: x-kubernetes-validations: the rules of a schema, run on every value they are for.

Rules see `self`, and `oldSelf` where the place has a counterpart in the object before: then they
are about a transition, and are left out when there is none. A rule that was broken before at a
place that did not change only warns.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from quintant.cluster.apiserver.meta.correlate import ABSENT, MapListKeys, same
from quintant.cluster.apiserver.meta.field_errors import (
    NO_FIELD,
    duplicate,
    duplicate_without_value,
    forbidden,
    invalid,
    invalid_without_value,
    required,
)
from quintant.cluster.apiserver.meta.types import ValidationResult
from quintant.core.errors import Cause

if TYPE_CHECKING:
    from quintant.cluster.apiserver.schema.cel_rule import RuleInput, SchemaRule

Schema = Mapping[str, Any]
RUN_LIMIT = 1_000_000
"""What one run of one rule may cost."""
OBJECT_LIMIT = 10_000_000
"""What all rules together may cost for one object."""
_OUT_OF_BUDGET = (
    "validation failed due to running out of cost budget, no further validation rules will be run"
)
_NO_FIELDS: Mapping[str, Any] = {}


class _Stop(Exception):
    """The budget is used up: nothing more is checked."""


class ValidationRules(Struct, frozen=True):
    """The rules of one place in an object and of everything below it."""

    type: str
    rules: tuple[SchemaRule, ...] = ()
    properties: Mapping[str, ValidationRules] = field(default_factory=dict)
    rest: ValidationRules | None = None
    items: ValidationRules | None = None
    keyed: MapListKeys | None = None

    @classmethod
    def compile(cls, schema: Schema, *, root: bool = True) -> ValidationRules | None:
        """None where a schema has no rules; they must compile, as those of a definition do."""
        properties = {
            name: found
            for name, below in (schema.get("properties") or {}).items()
            if (found := cls._below(below)) is not None
        }
        rest, items = (
            cls._below(schema.get("additionalProperties")),
            cls._below(schema.get("items")),
        )
        rules = _compiled(schema, root) if schema.get("x-kubernetes-validations") else ()
        if not (rules or properties or rest or items):
            return None
        return cls(schema.get("type", ""), rules, properties, rest, items, MapListKeys.of(schema))

    @classmethod
    def _below(cls, schema: Any) -> ValidationRules | None:
        if not isinstance(schema, dict):
            return None
        return cls.compile(schema, root=bool(schema.get("x-kubernetes-embedded-resource")))

    def validate(self, obj: Any, old: Any, path: str = "") -> ValidationResult:
        """What breaks the rules of an object, and what did so before."""
        found = _Validation()
        with suppress(_Stop):
            # Whether a whole object changed cannot be told: it counts as changed.
            found.visit(self, obj, old, _Position(path, obj))
        return ValidationResult(found.causes, found.warnings)


class _Position(Struct, frozen=True):
    """Where a value is, and what it is compared with to tell whether it changed."""

    path: str
    new: Any = ABSENT
    old: Any = ABSENT
    hidden: bool = False
    """Whether it changed cannot be told."""

    def below(self, path: str, new: Any, old: Any, *, hidden: bool = False) -> _Position:
        """A place in this one; without a counterpart the whole is what did or did not change."""
        if self.hidden or hidden:
            return _Position(path, hidden=True)
        return _Position(path, self.new, self.old) if old is ABSENT else _Position(path, new, old)

    @property
    def unchanged(self) -> bool:
        return not self.hidden and self.old is not ABSENT and same(self.new, self.old)


class _Validation(Struct):
    """The rules of one object, run one after the other within a budget."""

    causes: list[Cause] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    budget: int = OBJECT_LIMIT

    def visit(self, node: ValidationRules, value: Any, old: Any, position: _Position) -> None:
        if value is None:
            return
        before = None if old is ABSENT else old
        if node.rules:
            self._run(node, value, before, position)
        if isinstance(value, dict):
            self._fields(node, value, before, position)
        elif isinstance(value, list) and node.items is not None:
            self._items(node, value, before, position)

    def _fields(
        self, node: ValidationRules, value: Mapping[str, Any], old: Any, position: _Position
    ) -> None:
        before = old if isinstance(old, dict) else _NO_FIELDS
        for name, child in value.items():
            found = node.properties.get(name)
            item_path = f"{position.path}.{name}" if position.path else name
            if found is None and node.rest is not None:
                found, item_path = node.rest, f"{position.path}[{name}]"
            if found is not None:
                was = before.get(name, ABSENT)
                hidden = not position.path and name in ("apiVersion", "kind")
                self.visit(found, child, was, position.below(item_path, child, was, hidden=hidden))

    def _items(
        self, node: ValidationRules, values: list[Any], old: Any, position: _Position
    ) -> None:
        assert node.items is not None, "asked before"
        known = node.keyed.index(old) if node.keyed is not None else {}
        for at, item in enumerate(values):
            was = known.get(node.keyed.key(item), ABSENT) if node.keyed is not None else ABSENT
            self.visit(node.items, item, was, position.below(f"{position.path}[{at}]", item, was))

    def _run(self, node: ValidationRules, value: Any, old: Any, position: _Position) -> None:
        subject = node.rules[0].input(value, old)
        for rule in node.rules:
            if not rule.transition or old is not None or rule.optional_old:
                self._check(node, rule, subject, value, position)

    def _check(
        self,
        node: ValidationRules,
        rule: SchemaRule,
        subject: RuleInput,
        value: Any,
        position: _Position,
    ) -> None:
        path = position.path or NO_FIELD
        if self.budget <= 0:
            self._stop(invalid(path, node.type, _OUT_OF_BUDGET))
        outcome = rule.run(subject, RUN_LIMIT)
        if outcome.cost > self.budget:
            self._stop(invalid(path, node.type, _OUT_OF_BUDGET))
        self.budget -= outcome.cost
        if outcome.error:
            self.causes.append(invalid(path, node.type, outcome.error))
            if outcome.fatal:
                raise _Stop()
        elif not outcome.holds:
            self._broken(node, rule, subject, value, position)

    def _broken(
        self,
        node: ValidationRules,
        rule: SchemaRule,
        subject: RuleInput,
        value: Any,
        position: _Position,
    ) -> None:
        message, cost = rule.explain(subject, RUN_LIMIT)
        self.budget -= cost
        below = f".{rule.field}" if position.path else rule.field
        path = (position.path + below if rule.field else position.path) or NO_FIELD
        cause = _cause(rule, node, path, value, message)
        if not rule.transition and position.unchanged:
            self.warnings.append(f"{cause.field}: {cause.message}")
        else:
            self.causes.append(cause)

    def _stop(self, cause: Cause) -> None:
        self.causes.append(cause)
        raise _Stop()


def _compiled(schema: Schema, root: bool) -> tuple[SchemaRule, ...]:
    # The language takes 12 MB, and many clusters have no rules.
    from quintant.cluster.apiserver.schema.cel_rule import compile_rules

    return tuple(compile_rules(schema, root=root))


def _cause(rule: SchemaRule, node: ValidationRules, path: str, value: Any, message: str) -> Cause:
    large = node.type in ("object", "array")
    match rule.reason:
        case "FieldValueForbidden":
            return forbidden(path, message)
        case "FieldValueRequired":
            return required(path, message)
        case "FieldValueDuplicate":
            return duplicate_without_value(path) if large else duplicate(path, value)
    return invalid_without_value(path, message) if large else invalid(path, value, message)
