"""customResourceStrategy, ValidateScaleSpec: pruning, defaults, validation of custom resources.

    prune, drop nulls, read embedded metadata ─► default ─► validate: schema, scale, lists, rules

Built once, when an object first needs it (quintant.cluster.apiserver.crd.compiled).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from quintant.cluster.apiserver.golang.printing import plain
from quintant.cluster.apiserver.meta.correlate import ABSENT
from quintant.cluster.apiserver.meta.field_errors import (
    NO_FIELD,
    NOT_SUPPORTED,
    REQUIRED,
    TOO_LONG,
    TOO_MANY,
    TYPE_INVALID,
    invalid,
)
from quintant.cluster.apiserver.meta.objectmeta import finalizer_warnings
from quintant.cluster.apiserver.meta.types import JsonObject, ValidationResult
from quintant.cluster.apiserver.schema import embedded_objects
from quintant.cluster.apiserver.schema import prune as structural
from quintant.cluster.apiserver.schema.cel_validate import ValidationRules
from quintant.cluster.apiserver.schema.list_types import duplicate_items
from quintant.cluster.apiserver.schema.validate import SchemaValidator
from quintant.core.errors import Cause
from quintant.core.resource import Scale

Schema = Mapping[str, Any]
_STATUS = "status"
_BLOCKING = frozenset({NOT_SUPPORTED, REQUIRED, TOO_LONG, TOO_MANY, TYPE_INVALID})
_BLOCKED = (
    "some validation rules were not checked because the object was invalid; correct the existing "
    "errors to complete validation"
)
MAX_REPLICAS = 2**31 - 1
_GO = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    list: "[]interface {}",
    dict: "map[string]interface {}",
    type(None): "<nil>",
}
_ZEROS: dict[type, Any] = {int: 0, str: ""}


class CustomSchema:
    """A version's schema at work."""

    def __init__(self, schema: Schema, scale: Scale | None = None) -> None:
        self._schema = structural.resource_schema(schema)
        self._whole = SchemaValidator(schema, whole=True)
        self._status = SchemaValidator((schema.get("properties") or {}).get(_STATUS) or {})
        self._rules = ValidationRules.compile(schema)
        self._scale = scale

    def prune(self, obj: JsonObject) -> list[str]:
        """Drop what the schema does not know, in place; its paths, CoercionError if unreadable."""
        unknown = structural.prune(obj, self._schema)
        structural.drop_nulls(obj, self._schema)
        return unknown + embedded_objects.coerce_embedded(obj, self._schema)

    def default(self, obj: JsonObject) -> None:
        """Add what the schema says of what is absent, in place."""
        structural.default(obj, self._schema)

    def strip(self, obj: JsonObject) -> None:
        """Drop what the schema does not know from what was stored, in place."""
        structural.prune(obj, self._schema)
        structural.drop_nulls(obj, self._schema)

    def migrate(self, obj: JsonObject) -> None:
        """Bring what was stored under another schema up to this one, in place."""
        self.strip(obj)
        self.default(obj)

    def validate(
        self, obj: JsonObject, live: JsonObject | None, sub: str, known_causes: Sequence[Cause]
    ) -> ValidationResult:
        """What is wrong with an object, beside what was already found."""
        causes = list(self._causes(obj, live, sub))
        if self._rules is None:
            return ValidationResult(causes, _advice(obj, live, sub))
        if any(cause.reason in _BLOCKING for cause in (*known_causes, *causes)):
            causes.append(invalid(NO_FIELD, None, _BLOCKED))
            return ValidationResult(causes, _advice(obj, live, sub))
        result = self._rules.validate(obj, ABSENT if live is None else live)
        advice = [*result.warnings, *_advice(obj, live, sub)]
        return ValidationResult([*causes, *result.errors], advice)

    def _causes(self, obj: JsonObject, live: JsonObject | None, sub: str) -> Iterator[Cause]:
        if sub == _STATUS:
            if _STATUS in obj:
                before = (live or {}).get(_STATUS)
                yield from self._status(obj[_STATUS], before, prefix=_STATUS)
        else:
            yield from self._whole(obj, ABSENT if live is None else live)
        if self._scale is not None:
            yield from validate_replicas(obj, self._scale, status_only=sub == _STATUS)
        if sub != _STATUS:
            yield from embedded_objects.validate_embedded_objects(obj, self._schema)
        yield from self._repeated(obj, live)

    def _repeated(self, obj: JsonObject, live: JsonObject | None) -> Iterable[Cause]:
        """Lists with duplicates, unless there were such before."""
        if live is not None and any(duplicate_items(live, self._schema)):
            return ()
        return duplicate_items(obj, self._schema)


def _advice(obj: JsonObject, live: JsonObject | None, sub: str) -> list[str]:
    if sub == _STATUS:
        return []
    return finalizer_warnings(obj["metadata"], None if live is None else live["metadata"])


def validate_replicas(obj: Any, scale: Scale, *, status_only: bool = False) -> Iterator[Cause]:
    """What is wrong with the replicas and the selector that a scale shows."""
    if not status_only:
        yield from _count(obj, scale.replicas)
    yield from _count(obj, scale.status_replicas)
    if scale.selector:
        yield from _misfit(obj, scale.selector, str)


def _count(obj: Any, path: str) -> Iterator[Cause]:
    misfits = list(_misfit(obj, path, int))
    yield from misfits
    count = 0 if misfits else _value_at(obj, path) or 0
    if count < 0:
        yield invalid(path, count, "should be a non-negative integer")
    elif count > MAX_REPLICAS:
        yield invalid(path, count, f"should be less than or equal to {MAX_REPLICAS}")


def _misfit(obj: Any, path: str, wanted: type) -> Iterator[Cause]:
    """A complaint unless there is nothing at a path, or something of a type."""
    parts = path.strip(".").split(".")
    for depth, part in enumerate(parts):
        if obj is None:
            return
        if not isinstance(obj, dict):
            yield _unexpected(path, parts[: depth + 1], obj, wanted, "map[string]interface{}")
            return
        if part not in obj:
            return
        obj = obj[part]
    if type(obj) is not wanted:
        yield _unexpected(path, parts, obj, wanted, _GO[wanted])


def _unexpected(path: str, parts: list[str], value: Any, wanted: type, expected: str) -> Cause:
    what = f"{plain(value)} is of the type {_GO[type(value)]}, expected {expected}"
    return invalid(path, _ZEROS[wanted], f".{'.'.join(parts)} accessor error: {what}")


def _value_at(obj: Any, path: str) -> Any:
    for part in path.strip(".").split("."):
        obj = obj.get(part) if isinstance(obj, dict) else None
    return obj
