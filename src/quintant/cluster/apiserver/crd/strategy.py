"""Custom resources of one version: what is done to what a client sends, and what must hold.

    prune, drop nulls, read embedded metadata ─► default ─► validate: schema, scale, lists, rules

Built once when a definition is served; everything that can be prepared then is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from quintant.cluster.apiserver.crd.scale_paths import validate_replicas
from quintant.cluster.apiserver.kinds.strategy import (
    ConversionStrategy,
    Strategy,
    UpdateStrategy,
    ValidationStrategy,
)
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
from quintant.cluster.apiserver.schema import embedded_objects, list_uniqueness
from quintant.cluster.apiserver.schema import prune as structural
from quintant.cluster.apiserver.schema.cel_validate import ValidationRules
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
_UPDATE = UpdateStrategy(status_updates_metadata=False)


class CustomSchema:
    """A version's schema at work."""

    def __init__(self, schema: Schema, scale: Scale | None = None) -> None:
        self._place = structural.resource_schema(schema)
        self._whole = SchemaValidator(schema)
        self._status = SchemaValidator((schema.get("properties") or {}).get(_STATUS) or {})
        self._rules = ValidationRules.compile(schema)
        self._scale = scale

    def strategy(self, conversion: ConversionStrategy) -> Strategy:
        """How a custom resource of this schema behaves, given how it is converted."""
        return Strategy(
            update=_UPDATE,
            conversion=conversion,
            validation=ValidationStrategy(validate_custom=self.validate),
            tracks_generation=True,
            prune=self.prune,
            default=self.default,
        )

    def prune(self, obj: JsonObject) -> list[str]:
        """Drop what the schema does not know, in place; its paths, CoercionError if unreadable."""
        unknown = structural.prune(obj, self._place)
        structural.drop_nulls(obj, self._place)
        return unknown + embedded_objects.coerce_embedded(obj, self._place)

    def default(self, obj: JsonObject) -> None:
        """Add what the schema says of what is absent, in place."""
        structural.default(obj, self._place)

    def strip(self, obj: JsonObject) -> None:
        """Drop what the schema does not know from what was stored, in place."""
        structural.prune(obj, self._place)
        structural.drop_nulls(obj, self._place)

    def migrate(self, obj: JsonObject) -> None:
        """Bring what was stored under another schema up to this one, in place."""
        self.strip(obj)
        self.default(obj)

    def validate(
        self, obj: JsonObject, live: JsonObject | None, sub: str, found: Sequence[Cause]
    ) -> ValidationResult:
        """What is wrong with an object, beside what was already found."""
        causes = list(self._causes(obj, live, sub))
        if self._rules is None:
            return ValidationResult(causes, _advice(obj, live, sub))
        if any(cause.reason in _BLOCKING for cause in (*found, *causes)):
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
            yield from embedded_objects.validate_embedded_objects(obj, self._place)
        yield from self._repeated(obj, live)

    def _repeated(self, obj: JsonObject, live: JsonObject | None) -> Iterable[Cause]:
        """Lists with duplicates, unless there were such before."""
        if live is not None and any(list_uniqueness.duplicate_items(live, self._place)):
            return ()
        return list_uniqueness.duplicate_items(obj, self._place)


def _advice(obj: JsonObject, live: JsonObject | None, sub: str) -> list[str]:
    if sub == _STATUS:
        return []
    return finalizer_warnings(obj["metadata"], None if live is None else live["metadata"])
