"""numberValidator: numbers against a schema: the range of their format, bounds, multiples.

A bound is a float64, as in Go, and compared in the number's own type: for a whole number it is cut
to one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from quintant.cluster.apiserver.golang.printing import number as spelt
from quintant.cluster.apiserver.meta.field_errors import invalid
from quintant.cluster.apiserver.schema.validate_values import (
    INT64,
    JsonType,
    Part,
    Schema,
    format_of,
    in_body,
    is_whole,
    types_of,
)
from quintant.core.errors import Cause

INT32 = (-(2**31), 2**31 - 1)
FLOAT32 = 3.4028234663852886e38
"""The largest number that 32 bits hold as a float."""
_NOTHING: Sequence[Cause] = ()


def number_check(schema: Schema, sort: JsonType) -> Iterator[Part]:
    """Whether a number fits its format, then its bounds."""
    types = types_of(schema)
    only = types[0] if len(types) == 1 else ""
    form = format_of(schema) if only else ""
    if only == "integer" and (sort is JsonType.NUMBER or form == "int32"):
        yield _ranged(form)
    elif only == "number" and form == "float":
        yield _narrow
    yield from _bounds(schema, sort, only, form)


def _ranged(form: str) -> Part:
    low, high = INT32 if form == "int32" else INT64

    def part(value: float, path: str, old: Any) -> Sequence[Cause]:
        fits = low <= value <= high and value == int(value)
        return _NOTHING if fits else [_unfit("Checked", form, path)]

    return part


def _narrow(value: float, path: str, old: Any) -> Sequence[Cause]:
    message = f"Checked value must be of type number with format float in {path}"
    return [_unplaced(message)] if abs(value) > FLOAT32 else _NOTHING


def _unfit(what: str, form: str, path: str) -> Cause:
    how = f"with format {form}" if form else "(default format)"
    return _unplaced(f"{what} value must be of type integer {how} in {path}")


def _misfit(word: str, form: str) -> Part:
    return lambda value, path, old: [_unfit(word, form, path)]


def _unplaced(message: str) -> Cause:
    """A complaint that a real server makes about the object as a whole."""
    return invalid("", "", message)


def _bounds(schema: Schema, sort: JsonType, only: str, form: str) -> Iterator[Part]:
    names = ("multipleOf", "minimum", "maximum")
    tests = (_multiple, _minimum, _maximum)
    words = ("MultipleOf", "Minimum boundary", "Maximum boundary")
    for name, test, word in zip(names, tests, words, strict=True):
        if schema.get(name) is None:
            continue
        bound = float(schema[name])
        exclusive = bool(schema.get(f"exclusive{name.capitalize()}"))
        if only == "integer" and not _holds(form, bound):
            yield _misfit(word, form)
            yield test(bound, exclusive)
        elif sort is JsonType.INTEGER:
            yield test(_truncated(bound), exclusive)
        else:
            yield test(bound, exclusive)


def _holds(form: str, bound: float) -> bool:
    low, high = INT32 if form == "int32" else INT64
    return bound == int(bound) and low <= bound <= high


def _truncated(bound: float) -> int:
    """A bound as a 64-bit number; what does not fit becomes the smallest, as in Go."""
    cut = int(bound)
    return cut if INT64[0] <= cut <= INT64[1] else INT64[0]


def _maximum(bound: float, exclusive: bool) -> Part:
    text = f"should be less than {'' if exclusive else 'or equal to '}{spelt(bound)}"

    def part(value: float, path: str, old: Any) -> Sequence[Cause]:
        fits = value < bound if exclusive else value <= bound
        return _NOTHING if fits else [invalid(path, value, in_body(path, text))]

    return part


def _minimum(bound: float, exclusive: bool) -> Part:
    text = f"should be greater than {'' if exclusive else 'or equal to '}{spelt(bound)}"

    def part(value: float, path: str, old: Any) -> Sequence[Cause]:
        fits = value > bound if exclusive else value >= bound
        return _NOTHING if fits else [invalid(path, value, in_body(path, text))]

    return part


def _multiple(factor: float, exclusive: bool) -> Part:
    text = f"should be a multiple of {spelt(factor)}"

    def part(value: float, path: str, old: Any) -> Sequence[Cause]:
        if factor <= 0:
            positive = f"factor MultipleOf declared for {path} must be positive: {spelt(factor)}"
            return [invalid(path, factor, positive)]
        fits = _divides(factor, value)
        return _NOTHING if fits else [invalid(path, value, in_body(path, text))]

    return part


def _divides(factor: float, value: float) -> bool:
    if isinstance(factor, int) and isinstance(value, int):
        return value % factor == 0
    return is_whole(1 / factor * value if factor < 1 else value / factor)
