"""field.Error, field.ErrorList, NewInvalid: what is wrong with which field, and the 422.

In the words of field.Required, field.Invalid and their like; values are printed as Go prints them.
Every other refusal is in quintant.cluster.apiserver.meta.status.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from quintant.cluster.apiserver.golang.printing import quoted, shown
from quintant.cluster.apiserver.meta.status import StatusError, encode_causes, omit_empty
from quintant.core.errors import Cause
from quintant.core.resource import Resource

NO_FIELD = "<nil>"
"""The field of a complaint about the object as a whole."""

ERRORS_BYTES = 4 * 1024 * 1024
"""Of all complaints about an object; a real server would be at work on more for over a minute."""

REQUIRED = "FieldValueRequired"
INVALID = "FieldValueInvalid"
TYPE_INVALID = "FieldValueTypeInvalid"
NOT_SUPPORTED = "FieldValueNotSupported"
FORBIDDEN = "FieldValueForbidden"
DUPLICATE = "FieldValueDuplicate"
TOO_LONG = "FieldValueTooLong"
TOO_MANY = "FieldValueTooMany"
NOT_FOUND = "FieldValueNotFound"
INTERNAL = "InternalError"


def invalid_object(resource: Resource, name: str, *causes: Cause) -> StatusError:
    """422: what is wrong with which field."""
    kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    return _invalid(kind, {"name": name, "group": resource.group, "kind": resource.kind}, causes)


def missing_resource_version(resource: Resource, name: str) -> StatusError:
    """422 for a PUT that does not say which state it replaces."""
    cause = invalid("metadata.resourceVersion", 0, "must be specified for an update")
    about = {"name": name, "group": resource.group, "kind": resource.plural}
    return _invalid(resource.full_name, about, (cause,))


def invalid_options(kind: str, *causes: Cause) -> StatusError:
    """422 about request options, which are documents of their own: ListOptions, PatchOptions."""
    about = {"group": "meta.k8s.io", "kind": kind}
    return _invalid(f"{kind}.meta.k8s.io", about, causes)


def invalid_patch(result: str, why: str) -> StatusError:
    """422 for a patch whose result is no object of the kind."""
    return _invalid("", {}, (invalid("patch", result, why),))


def aggregate(causes: Sequence[Cause]) -> str:
    """What is wrong, in one text: each cause that is another than those before."""
    found = list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in causes))
    return found[0] if len(found) == 1 else f"[{', '.join(found)}]"


def required(field: str, message: str = "") -> Cause:
    return _cause(REQUIRED, field, "Required value", message)


def invalid(field: str, value: Any, message: str) -> Cause:
    return _cause(INVALID, field, f"Invalid value: {shown(value)}", message)


def invalid_each(field: str, value: Any, complaints: Sequence[str]) -> list[Cause]:
    """A cause for each complaint about a name (quintant.cluster.apiserver.meta.names)."""
    return [invalid(field, value, complaint) for complaint in complaints]


def type_invalid(field: str, value: Any, message: str) -> Cause:
    return _cause(TYPE_INVALID, field, f"Invalid value: {shown(value)}", message)


def invalid_without_value(field: str, message: str) -> Cause:
    """Something is wrong with a value too large to be shown."""
    return _cause(INVALID, field, "Invalid value", message)


def not_supported(field: str, value: Any, choices: Sequence[str]) -> Cause:
    listed = ", ".join(quoted(choice) for choice in choices)
    head = f"Unsupported value: {shown(value)}"
    return _cause(NOT_SUPPORTED, field, head, f"supported values: {listed}" if choices else "")


def forbidden(field: str, message: str) -> Cause:
    return _cause(FORBIDDEN, field, "Forbidden", message)


def duplicate(field: str, value: Any) -> Cause:
    return _cause(DUPLICATE, field, f"Duplicate value: {shown(value)}", "")


def not_found(field: str, value: Any) -> Cause:
    """A value names something that is not there."""
    return _cause(NOT_FOUND, field, f"Not found: {shown(value)}", "")


def duplicate_without_value(field: str) -> Cause:
    """A value too large to be shown occurs twice."""
    return _cause(DUPLICATE, field, "Duplicate value", "")


def too_long(field: str, limit: int) -> Cause:
    unit = "byte" if limit == 1 else "bytes"
    return _cause(TOO_LONG, field, "Too long", f"may not be more than {limit} {unit}")


def too_many(field: str, count: int, limit: int) -> Cause:
    unit = "item" if limit == 1 else "items"
    return _cause(TOO_MANY, field, f"Too many: {count}", f"must have at most {limit} {unit}")


def _cause(reason: str, field: str, head: str, message: str) -> Cause:
    return Cause(reason, f"{head}: {message}" if message else head, field)


def _invalid(title: str, about: Mapping[str, Any], causes: Sequence[Cause]) -> StatusError:
    name, causes = about.get("name", ""), [*limit_errors(causes)]
    details = {**omit_empty(about), "causes": encode_causes(causes)}
    text = f"{title} {quoted(name)} is invalid: {aggregate(causes)}"
    return StatusError(422, "Invalid", text, details)


def limit_errors(causes: Iterable[Cause]) -> Iterator[Cause]:
    """The causes that are told, the first of them whatever its size; others are not looked for."""
    size = 0
    for cause in causes:
        yield cause
        size += len(cause.field) + len(cause.message)
        if size > ERRORS_BYTES:
            return
