"""CallCost, ActualCostEstimator: the CEL cost of each operation, at worst and in a run.

A name or a field costs 1, a function usually too, a text what it takes to go through it. The same
prices hold for what a rule costs at worst (quintant.cluster.apiserver.cel.cost) and what a run of
it cost.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

TRAVERSAL = 0.1
"""Of looking at one character."""
REGEX = 0.25
"""Of one character of a pattern."""
LIST_PRICE = 10
MAP_PRICE = 30
STRUCT_PRICE = 40
DECISION_PRICE = 350_000
"""Of asking whether somebody may do something."""


def price_of(function: str) -> Callable[..., int]:
    """From the arguments of a function to the price of calling it."""
    return _PRICES.get(function, _one)


def size_of(value: Any) -> int:
    """How large a value is when something goes through it."""
    return len(value) if isinstance(value, str | bytes | list | dict) else 1


def _one(*args: Any) -> int:
    return 1


def _compared(one: Any, other: Any) -> int:
    return ceil(min(size_of(one), size_of(other)) * TRAVERSAL)


def _traversed(text: Any, *rest: Any) -> int:
    return ceil(size_of(text) * TRAVERSAL)


def _added(one: Any, other: Any) -> int:
    texts = isinstance(one, str | bytes)
    return ceil((size_of(one) + size_of(other)) * TRAVERSAL) if texts else 1


def _searched(text: Any, part: Any) -> int:
    return ceil(size_of(text) * TRAVERSAL) * ceil(size_of(part) * TRAVERSAL)


def _matched(text: Any, pattern: Any, *rest: Any) -> int:
    return ceil((1 + size_of(text)) * TRAVERSAL) * ceil(size_of(pattern) * REGEX)


def _listed(item: Any, values: Any) -> int:
    return size_of(values) if isinstance(values, list) else 1


def _walked(values: Any, *rest: Any) -> int:
    return size_of(values)


_PRICES: dict[str, Callable[..., int]] = {
    **dict.fromkeys(("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"), _compared),
    **dict.fromkeys(
        (
            *("startsWith", "endsWith", "bytes", "string", "strings.quote", "format", "charAt"),
            *("indexOf", "lastIndexOf", "lowerAscii", "upperAscii", "replace", "split", "trim"),
            *("substring", "quantity", "isQuantity", "ip", "isIP", "cidr", "isCIDR", "url"),
            *("isURL", "semver", "isSemver", "validate", "jsonpatch.escapeKey"),
        ),
        _traversed,
    ),
    **dict.fromkeys(
        ("isSorted", "sum", "max", "min", "sort", "distinct", "reverse", "slice", "flatten"),
        _walked,
    ),
    "_+_": _added,
    "contains": _searched,
    "matches": _matched,
    "find": _matched,
    "findAll": _matched,
    "@in": _listed,
    "check": lambda check, verb: DECISION_PRICE,
}
