"""cel-go ext.Strings, library.Lists: functions of CEL on strings and lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import reduce
from itertools import pairwise
from typing import Any

from quintant.cluster.apiserver.cel.functions import FUNCTIONS, Function
from quintant.cluster.apiserver.cel.values import (
    NONE,
    CelError,
    Optional,
    TypeName,
    contains,
    equal,
    spell_duration,
    spell_timestamp,
)
from quintant.cluster.apiserver.golang.printing import number, quoted

_CLAUSE = re.compile(r"%(?:%|(?:\.(\d+))?([a-zA-Z]))")
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
DEFAULT_PRECISION = 6
"""Digits of %f and %e."""


def _at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise CelError(f"index out of range: {index}")
    return text[index : index + 1]


def _index(values: Any, item: Any, start: int = 0) -> int:
    if isinstance(values, list):
        return next((at for at, each in enumerate(values) if equal(each, item)), -1)
    if not 0 <= start <= len(values):
        raise CelError(f"index out of range: {start}")
    return int(values.find(item, start))


def _last_index(values: Any, item: Any, start: int | None = None) -> int:
    if isinstance(values, list):
        return max((at for at, each in enumerate(values) if equal(each, item)), default=-1)
    if start is None:
        return int(values.rfind(item))
    if not 0 <= start <= len(values):
        raise CelError(f"index out of range: {start}")
    return int(values.rfind(item, 0, start + len(item)))


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if not separator:
        most = len(text) if limit < 0 else min(limit, len(text))
        return [*text[: most - 1], text[most - 1 :]] if text else []
    return text.split(separator, limit - 1 if limit > 0 else -1)


def _substring(text: str, start: int, end: int | None = None) -> str:
    stop = len(text) if end is None else end
    if start > stop:
        if end is None:
            raise CelError(f"index out of range: {start}")
        raise CelError(f"invalid substring range. start: {start}, end: {stop}")
    for index in (start, stop):
        if not 0 <= index <= len(text):
            raise CelError(f"index out of range: {index}")
    return text[start:stop]


def _lower(text: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in text)


def _upper(text: str) -> str:
    return "".join(char.upper() if char.isascii() else char for char in text)


def _quote(text: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n"}
    escapes |= {"\r": "\\r", "\t": "\\t", "\v": "\\v"}
    return f'"{"".join(escapes.get(char, char) for char in text)}"'


def _format(text: str, args: list[Any]) -> str:
    left = iter(args)
    count = 0

    def clause(match: re.Match[str]) -> str:
        nonlocal count
        if match[0] == "%%":
            return "%"
        count += 1
        if count > len(args):
            raise CelError(f"index {count - 1} out of range")
        precision = DEFAULT_PRECISION if match[1] is None else int(match[1])
        return _clause(next(left), match[2], precision)

    return _CLAUSE.sub(clause, text)


def _clause(value: Any, letter: str, precision: int) -> str:
    try:
        return _CLAUSES[letter](value, precision)
    except KeyError:
        raise CelError(
            f'could not parse formatting clause: unrecognized formatting clause "{letter}"'
        ) from None
    except (TypeError, ValueError):
        raise CelError("error during formatting: unexpected type") from None


def _spelt(value: Any, nested: bool = False) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float() if nested:
            return format(value, f".{DEFAULT_PRECISION}f")
        case int() | float():
            return number(value)
        case str():
            return quoted(value) if nested else value
        case bytes():
            return value.decode(errors="replace")
        case list():
            return f"[{', '.join(_spelt(item, nested=True) for item in value)}]"
        case dict():
            pairs = sorted((_spelt(key, True), _spelt(item, True)) for key, item in value.items())
            return f"{{{', '.join(f'{key}:{item}' for key, item in pairs)}}}"
        case datetime():
            return spell_timestamp(value)
        case timedelta():
            return spell_duration(value)
        case TypeName():
            return value.name
    raise CelError("error during formatting: string clause can only be used on known types")


def _hex(value: Any) -> str:
    if isinstance(value, str | bytes):
        return (value.encode() if isinstance(value, str) else value).hex()
    return format(value, "x")


def _scientific(value: float) -> str:
    """A number with its power of ten spelt out, always with the default precision."""
    mantissa, _, exponent = format(value, f".{DEFAULT_PRECISION}e").partition("e")
    return f"{mantissa}\N{MULTIPLICATION SIGN}10{exponent.lstrip('+').translate(_SUPERSCRIPTS)}"


_CLAUSES: dict[str, Callable[[Any, int], str]] = {
    "s": lambda value, precision: _spelt(value),
    "d": lambda value, precision: format(value, "d"),
    "f": lambda value, precision: format(float(value), f".{precision}f"),
    "e": lambda value, precision: _scientific(float(value)),
    "b": lambda value, precision: format(int(value), "b"),
    "x": lambda value, precision: _hex(value),
    "X": lambda value, precision: _hex(value).upper(),
    "o": lambda value, precision: format(value, "o"),
}


def _extreme(name: str, choose: Function) -> Function:
    def extreme(values: list[Any]) -> Any:
        if not values:
            raise CelError(f"{name} called on empty list")
        return choose(values)

    return extreme


def _sum(values: Sequence[Any]) -> Any:
    return reduce(FUNCTIONS["_+_"], values[1:], values[0]) if values else 0


def _slice(values: list[Any], start: int, end: int) -> list[Any]:
    if start < 0 or end < 0:
        raise CelError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        why = "start index must be less than or equal to end index"
        raise CelError(f"cannot slice({start}, {end}), {why}")
    if end > len(values):
        raise CelError(f"cannot slice({start}, {end}), list is length {len(values)}")
    return values[start:end]


def _flatten(values: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise CelError("level must be non-negative")
    flat: list[Any] = []
    for value in values:
        nested = isinstance(value, list) and depth > 0
        flat += _flatten(value, depth - 1) if nested else [value]
    return flat


def _distinct(values: list[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if not contains(found, value):
            found.append(value)
    return found


def _within(one: list[Any], other: list[Any]) -> bool:
    return all(contains(one, item) for item in other)


STRINGS: dict[str, Function] = {
    "charAt": _at,
    "indexOf": _index,
    "lastIndexOf": _last_index,
    "lowerAscii": _lower,
    "upperAscii": _upper,
    "replace": lambda text, old, new, count=-1: text.replace(old, new, count),
    "split": _split,
    "substring": _substring,
    "trim": lambda text: text.strip(),
    "join": lambda values, separator="": separator.join(values),
    "format": _format,
    "strings.quote": _quote,
    "sets.contains": _within,
    "sets.equivalent": lambda one, other: _within(one, other) and _within(other, one),
    "sets.intersects": lambda one, other: any(contains(one, item) for item in other),
    "isSorted": lambda values: all(one <= other for one, other in pairwise(values)),
    "sum": _sum,
    "max": _extreme("max", max),
    "min": _extreme("min", min),
    "slice": _slice,
    "flatten": _flatten,
    "lists.range": lambda count: list(range(count)),
    "distinct": _distinct,
    "reverse": lambda values: values[::-1],
    "sort": sorted,
    "first": lambda values: Optional(values[0]) if values else NONE,
    "last": lambda values: Optional(values[-1]) if values else NONE,
}
