"""ValidateLabelSelector: matchLabels and matchExpressions, in every kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quintant.cluster.apiserver.meta.field_errors import forbidden, invalid, invalid_each, required
from quintant.cluster.apiserver.meta.names import label_value_errors, qualified_name_errors
from quintant.cluster.apiserver.validation.common import validate_labels
from quintant.core.errors import Cause

Plain = Mapping[str, Any]

_SETS = ("In", "NotIn")
_PRESENCE = ("Exists", "DoesNotExist")


def selector_causes(path: str, selector: Plain) -> Iterator[Cause]:
    """What is wrong with a label selector."""
    yield from validate_labels(f"{path}.matchLabels", selector.get("matchLabels"))
    for at, expression in enumerate(selector.get("matchExpressions") or ()):
        yield from _expression_causes(f"{path}.matchExpressions[{at}]", expression)


def _expression_causes(path: str, expression: Plain) -> Iterator[Cause]:
    operator, key = expression.get("operator") or "", expression.get("key") or ""
    values = expression.get("values") or []
    if operator not in (*_SETS, *_PRESENCE):
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    elif operator in _SETS and not values:
        text = "must be specified when `operator` is 'In' or 'NotIn'"
        yield required(f"{path}.values", text)
    elif operator in _PRESENCE and values:
        text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        yield forbidden(f"{path}.values", text)
    yield from invalid_each(f"{path}.key", key, qualified_name_errors(key))
    for at, value in enumerate(values):
        yield from invalid_each(f"{path}.values[{at}]", value, label_value_errors(value))
