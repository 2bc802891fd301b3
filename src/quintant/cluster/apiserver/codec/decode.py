"""fieldValidation: a body as an object of its kind; unknown fields are refused or dropped.

The first step of every draft (quintant.cluster.apiserver.handlers). Fields that the kind does not
have are dropped; whether their author is refused, warned or told nothing is what a
`FieldValidation` says.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

import msgspec

from quintant.cluster.apiserver import go_types
from quintant.cluster.apiserver.codec.type_meta import check_patched, check_sent
from quintant.cluster.apiserver.codec.unknown_fields import document_order
from quintant.cluster.apiserver.go_types.coerce import CoercionError, coerce
from quintant.cluster.apiserver.golang.printing import encoded, plain, quoted
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kinds.metadata_rules import (
    set_namespace,
    unknown_metadata,
    with_type_meta,
)
from quintant.cluster.apiserver.meta.field_errors import invalid_patch
from quintant.cluster.apiserver.meta.status import StatusError, bad_request
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.core.resource import Resource

MAX_REPORTED = 100
"""Unknown and repeated fields that are told, as by the decoder of a real server."""
_STEP = re.compile(r"[^.\[\]]+")


class FieldValidationMode(Enum):
    """What becomes of fields the server does not know."""

    STRICT = "Strict"
    WARN = "Warn"
    IGNORE = "Ignore"


class FieldValidation(msgspec.Struct, frozen=True):
    """How closely a document is read, and what is amiss in its text."""

    mode: FieldValidationMode = FieldValidationMode.WARN
    text_warnings: tuple[str, ...] = ()
    yaml: bool = False
    """The text is YAML, whose reader tells everything at once."""
    merged: Any = None
    """The strategic patch that it is the result of; such a result is not decoded again."""
    text: bytes = b""
    """The JSON, if fields come twice in it."""

    @property
    def converted(self) -> bool:
        """Whether it is only converted from one form to another."""
        return self.merged is not None

    @property
    def strict(self) -> bool:
        """Whether anything amiss is a reason to refuse it."""
        return self.mode is FieldValidationMode.STRICT

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is amiss in the text, as far as its author is to be warned."""
        return self.text_warnings if self.mode is FieldValidationMode.WARN else ()

    @property
    def refusal(self) -> tuple[str, ...]:
        """What is amiss in the text, in the words of a refusal."""
        if not self.yaml or not self.text_warnings:
            return self.text_warnings
        return (
            "yaml: unmarshal errors:\n" + "\n".join(f"  {text}" for text in self.text_warnings),
        )


def decode_draft(target: ObjectRef, sent: Any, field_validation: FieldValidation) -> Draft:
    """What was sent, as an object of the target's kind in its namespace."""
    obj = sent_object(target.kind, sent)
    warnings = decode(target.kind, obj, field_validation)
    match_namespace(target, obj, warnings)
    return Draft(target, obj, warnings, sent_kind=sent.get("kind") or "")


def match_namespace(target: ObjectRef, obj: JsonObject, warnings: tuple[str, ...]) -> None:
    """Set the namespace and name of the target, in place.

    400 with every warning so far if the object names others.
    """
    try:
        set_namespace(target.kind, obj, target.namespace, target.name)
    except StatusError as error:
        raise error.with_warnings(*warnings) from None


def sent_object(kind: Kind, sent: Any) -> JsonObject:
    """What a client sent, as an object of the kind; 400 or 422 if it is not one."""
    if isinstance(sent, dict):
        check_sent(kind, sent)
    return with_type_meta(kind, sent)


def patched_object(kind: Kind, changed: Any, field_validation: FieldValidation) -> JsonObject:
    """What a patch made, as an object of the kind; 400 or 422 if it is not one."""
    if isinstance(changed, dict):
        check_patched(kind, changed, converted=field_validation.converted)
    return with_type_meta(kind, changed)


def decode(
    kind: Kind, obj: JsonObject, field_validation: FieldValidation, *, patch: bool = False
) -> tuple[str, ...]:
    """Drop unknown fields, in place; the warnings about what is amiss, unless it is refused."""
    sent = encoded(obj) if patch and field_validation.strict else ""
    try:
        paths = drop_unknown(kind, obj)
    except CoercionError as error:
        if field_validation.converted:
            raise invalid_patch(plain(field_validation.merged), error.converted) from None
        raise _unfit(kind.resource, str(error), sent or encoded(obj), patch=patch) from None
    # A patched object is written and read again, with its keys in order.
    paths = sorted(paths, key=_steps) if patch else paths
    unknown = tuple(f"unknown field {quoted(path)}" for path in paths)
    typed = not (patch or kind.custom)
    if typed:
        field_validation = _less(field_validation, paths)
    complaints = _complaints(field_validation, unknown, typed=typed)
    if field_validation.strict and complaints:
        why = f"strict decoding error: {', '.join(complaints)}"
        raise _unfit(kind.resource, why, sent, patch=patch)
    return complaints if field_validation.mode is FieldValidationMode.WARN else ()


def _complaints(
    field_validation: FieldValidation, unknown: tuple[str, ...], *, typed: bool
) -> tuple[str, ...]:
    """All that is amiss, in the order in which a decoder of the kind meets it."""
    strict = field_validation.strict
    of_text = field_validation.refusal if strict else field_validation.text_warnings
    if not typed:
        return (*of_text, *unknown)
    complaints = [*of_text, *unknown]
    if field_validation.text and of_text and unknown:
        rank = document_order(field_validation.text)
        complaints.sort(key=lambda complaint: rank.get(complaint, len(rank)))
    return tuple(complaints[:MAX_REPORTED])


def coerced(sent: Any, wanted: Resource, *, patch: bool = False) -> Any:
    """A document that is read and not stored, made to fit in place; 400 or 422 if it cannot be."""
    message = go_types.find(wanted.api_version, wanted.kind)
    if message is None or not isinstance(sent, dict):
        return sent
    before = encoded(sent) if patch else ""
    try:
        coerce(message, sent)
    except CoercionError as error:
        raise _unfit(wanted, str(error), before, patch=patch) from None
    return sent


def drop_unknown(kind: Kind, obj: JsonObject) -> list[str]:
    """Drop the fields the kind does not have, in place; their paths."""
    if kind.message is not None:
        return coerce(kind.message, obj)
    unknown = unknown_metadata(obj)
    prune = kind.strategy.prune
    return unknown + (prune(obj) if prune is not None else [])


def _less(field_validation: FieldValidation, unknown: list[str]) -> FieldValidation:
    """Of a field that is not known nobody minds that it is there twice."""
    gone = {f"duplicate field {quoted(path)}" for path in unknown}
    warnings = tuple(text for text in field_validation.text_warnings if text not in gone)
    return msgspec.structs.replace(field_validation, text_warnings=warnings)


def _steps(path: str) -> list[str]:
    """A path by its parts, so that what is inside something stands beside it."""
    return [f"{int(step):09}" if step.isdecimal() else step for step in _STEP.findall(path)]


def _unfit(resource: Resource, why: str, sent: str, *, patch: bool) -> StatusError:
    if patch:
        return invalid_patch(sent, why)
    kind = resource.kind
    return bad_request(
        f'{kind} in version "{resource.version}" cannot be handled as a {kind}: {why}'
    )
