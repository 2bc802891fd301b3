"""cel-go stdlib.Functions, OptionalTypes: operators, conversions, times and optional values.

The checker has seen the types, so a function gets what it is declared for; where a type was not
known, the evaluator asks the declarations again before it calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from quintant.cluster.apiserver.cel.values import (
    NONE,
    CelError,
    Optional,
    TypeName,
    Uint,
    bounded,
    contains,
    equal,
    kind_of,
)
from quintant.cluster.apiserver.golang.regexp import BadPattern, matcher

Function = Callable[..., Any]


def _wrapped(one: Any, value: Any) -> Any:
    """A result of arithmetic in the type of its operands."""
    if isinstance(one, Uint):
        return bounded(value, unsigned=True)
    return bounded(value) if type(one) is int else value


def _add(one: Any, other: Any) -> Any:
    return _wrapped(one, one + other)


def _subtract(one: Any, other: Any) -> Any:
    return _wrapped(one, one - other)


def _multiply(one: Any, other: Any) -> Any:
    return _wrapped(one, one * other)


def _divide(one: Any, other: Any) -> Any:
    if isinstance(one, float):
        if other:
            return one / other
        return math.nan if not one or math.isnan(one) else math.copysign(math.inf, one * other)
    if not other:
        raise CelError("division by zero")
    return _wrapped(one, abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1))


def _modulo(one: Any, other: Any) -> Any:
    if not other:
        raise CelError("modulus by zero")
    return _wrapped(one, abs(one) % abs(other) * (-1 if one < 0 else 1))


def _negate(one: Any) -> Any:
    return _wrapped(one, -one)


def _index(one: Any, key: Any) -> Any:
    if isinstance(one, Optional):
        return _optional_index(one, key)
    if isinstance(one, list):
        if not 0 <= key < len(one):
            raise CelError(f"index out of bounds: {key}")
        return one[key]
    if key not in one:
        raise CelError(f"no such key: {key}")
    return one[key]


def _optional_index(one: Any, key: Any) -> Optional:
    if isinstance(one, Optional):
        if not one.present:
            return NONE
        one = one.value
    found = 0 <= key < len(one) if isinstance(one, list) else key in one
    return Optional(one[key]) if found else NONE


def _size(one: Any) -> int:
    return len(one)


def _matches(text: str, pattern: str) -> bool:
    try:
        return matcher(pattern)(text)
    except BadPattern as error:
        raise CelError(str(error)) from None


def _value(optional: Optional) -> Any:
    if not optional.present:
        raise CelError("optional.none() dereference")
    return optional.value


def _nonzero(value: Any) -> Optional:
    return Optional(value) if value else NONE


def _insert(one: dict[Any, Any], other: dict[Any, Any]) -> dict[Any, Any]:
    for key in other:
        if key in one:
            raise CelError(f"insert failed: key {key} already exists")
    return {**one, **other}


FUNCTIONS: dict[str, Function] = {
    "_==_": equal,
    "_!=_": lambda one, other: not equal(one, other),
    "_<_": lambda one, other: one < other,
    "_<=_": lambda one, other: one <= other,
    "_>_": lambda one, other: one > other,
    "_>=_": lambda one, other: one >= other,
    "_+_": _add,
    "_-_": _subtract,
    "_*_": _multiply,
    "_/_": _divide,
    "_%_": _modulo,
    "-_": _negate,
    "!_": lambda one: not one,
    "@in": lambda item, values: contains(values, item),
    "_[_]": _index,
    "_[?_]": _optional_index,
    "size": _size,
    "type": lambda value: TypeName(kind_of(value)),
    "dyn": lambda value: value,
    "contains": lambda text, part: part in text,
    "endsWith": lambda text, part: text.endswith(part),
    "startsWith": lambda text, part: text.startswith(part),
    "matches": _matches,
    "optional.of": Optional,
    "optional.ofNonZeroValue": _nonzero,
    "optional.none": lambda: NONE,
    "value": _value,
    "hasValue": lambda optional: optional.present,
    "or": lambda one, other: one if one.present else other,
    "orValue": lambda one, other: one.value if one.present else other,
    "cel.@mapInsert": _insert,
}
