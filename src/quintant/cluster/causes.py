"""Causes: what is wrong with one field, in the words a real server uses.

A 422 lists them (quintant.cluster.problems). Values are printed as Go prints them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quintant.cluster.golang import quoted, shown
from quintant.runtime.errors import Cause

NOWHERE = "<nil>"
"""The field of a complaint about the object as a whole."""

REQUIRED = "FieldValueRequired"
INVALID = "FieldValueInvalid"
MISTYPED = "FieldValueTypeInvalid"
UNSUPPORTED = "FieldValueNotSupported"
FORBIDDEN = "FieldValueForbidden"
DUPLICATE = "FieldValueDuplicate"
TOO_LONG = "FieldValueTooLong"
TOO_MANY = "FieldValueTooMany"
MISSING = "FieldValueNotFound"
INTERNAL = "InternalError"


def required(field: str, message: str = "") -> Cause:
    return _cause(REQUIRED, field, "Required value", message)


def wrong(field: str, value: Any, message: str) -> Cause:
    return _cause(INVALID, field, f"Invalid value: {shown(value)}", message)


def mistyped(field: str, value: Any, message: str) -> Cause:
    return _cause(MISTYPED, field, f"Invalid value: {shown(value)}", message)


def untrue(field: str, message: str) -> Cause:
    """Something is wrong with a value too large to be shown."""
    return _cause(INVALID, field, "Invalid value", message)


def unsupported(field: str, value: Any, choices: Sequence[str]) -> Cause:
    listed = ", ".join(quoted(choice) for choice in choices)
    head = f"Unsupported value: {shown(value)}"
    return _cause(UNSUPPORTED, field, head, f"supported values: {listed}" if choices else "")


def forbidden_field(field: str, message: str) -> Cause:
    return _cause(FORBIDDEN, field, "Forbidden", message)


def duplicate(field: str, value: Any) -> Cause:
    return _cause(DUPLICATE, field, f"Duplicate value: {shown(value)}", "")


def missing(field: str, value: Any) -> Cause:
    """A value names something that is not there."""
    return _cause(MISSING, field, f"Not found: {shown(value)}", "")


def repeated(field: str) -> Cause:
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
