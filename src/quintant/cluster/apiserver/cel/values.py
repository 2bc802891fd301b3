"""cel-go ref.Val: values of expressions: Python's own, and those that JSON has no name for.

int int · uint Uint · double float · bool, string, bytes, null, list, map as in Python
timestamp datetime · duration timedelta · optional Optional · type TypeName · opaque types below
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

INT64 = (-(2**63), 2**63 - 1)
_UNITS = {
    "ns": Decimal("0.001"),
    "us": Decimal(1),
    "µs": Decimal(1),
    "μs": Decimal(1),
    "ms": Decimal(1000),
    "s": Decimal(10**6),
    "m": Decimal(60 * 10**6),
    "h": Decimal(3600 * 10**6),
}
_MOST = Decimal(2**63 - 1) / 1000
"""Microseconds of the longest duration: its nanoseconds have 64 bits."""
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_DURATION = re.compile(rf"([+-]?)(0|({_PART.pattern})+)", re.ASCII)
_TIMESTAMP = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE
)


class CelError(Exception):
    """An expression cannot be evaluated; the text is a real server's."""


class Uint(int):
    """An unsigned number."""


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type as a value."""

    name: str


@dataclass(frozen=True, slots=True)
class Optional:
    """A value that may be absent."""

    value: Any = None
    present: bool = True


NONE = Optional(present=False)


@dataclass(frozen=True, slots=True)
class OpaqueValue:
    """A value of a type that expressions can only call functions on."""

    type: str
    value: Any


def kind_of(value: Any) -> str:
    """The name of a value's type."""
    if isinstance(value, OpaqueValue):
        return value.type
    return _NAMES.get(type(value), "dyn")


_NAMES: Mapping[type, str] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null",
    list: "list",
    dict: "map",
    datetime: "timestamp",
    timedelta: "duration",
    Optional: "optional_type",
    TypeName: "type",
}
_NUMBERS = (int, Uint, float)


def equal(one: Any, other: Any) -> bool:
    """Equality of the language: numbers of all sorts compare, other types differ."""
    if isinstance(one, Optional) and isinstance(other, Optional):
        return one.present == other.present and equal(one.value, other.value)
    if type(one) in _NUMBERS and type(other) in _NUMBERS:
        return bool(one == other)
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict):
        return len(one) == len(other) and all(
            key in other and equal(value, other[key]) for key, value in one.items()
        )
    return bool(one == other)


def contains(values: Any, wanted: Any) -> bool:
    """Whether a list has an item, or a map a key."""
    return any(equal(wanted, each) for each in values)


def bounded(value: int, *, unsigned: bool = False) -> int:
    """A number that fits into 64 bits; CelError if it does not."""
    low, high = (0, 2**64 - 1) if unsigned else INT64
    if not low <= value <= high:
        raise CelError("unsigned integer overflow" if unsigned else "integer overflow")
    return Uint(value) if unsigned else value


def parse_duration(text: str) -> timedelta | None:
    """A duration such as `1h30m`; None if it is none."""
    found = _DURATION.fullmatch(text)
    if found is None:
        return None
    parts = _PART.findall(found[2])
    micros = sum((Decimal(amount) * _UNITS[unit] for amount, unit in parts), Decimal(0))
    if micros > _MOST:
        return None
    return timedelta(microseconds=float(-micros if found[1] == "-" else micros))


def parse_timestamp(text: str) -> datetime | None:
    """A moment in RFC 3339; None if it is none."""
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        return None
    fraction, zone = (found[2] or "")[:7], found[3].upper().replace("Z", "+00:00")
    try:
        return datetime.fromisoformat(f"{found[1].upper()}{fraction}{zone}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def spell_duration(value: timedelta) -> str:
    """A duration in seconds."""
    seconds = Decimal(value // timedelta(microseconds=1)) / 10**6
    return f"{seconds.normalize():f}s"


def spell_timestamp(value: datetime) -> str:
    """A moment in RFC 3339, in UTC."""
    moment = value.astimezone(UTC)
    fraction = f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else ""
    return f"{moment.strftime('%Y-%m-%dT%H:%M:%S')}{fraction}Z"
