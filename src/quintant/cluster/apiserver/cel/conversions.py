"""cel-go ConvertToType: conversions between types, and the parts of times."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from quintant.cluster.apiserver.cel.functions import Function
from quintant.cluster.apiserver.cel.values import (
    INT64,
    CelError,
    OpaqueValue,
    Uint,
    bounded,
    parse_duration,
    parse_timestamp,
    spell_duration,
    spell_timestamp,
)
from quintant.cluster.apiserver.golang.printing import number
from quintant.wire.digits import parse_digits

_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})


def tells(read: Callable[[str], Any]) -> Callable[[str], bool]:
    """Whether something can be read from a text."""

    def readable(text: str) -> bool:
        try:
            read(text)
        except CelError:
            return False
        return True

    return readable


def _int(value: Any) -> int:
    match value:
        case str():
            return int(_parsed(value, "int", int))
        case float():
            if not math.isfinite(value) or not INT64[0] < value < INT64[1]:
                raise CelError("integer overflow")
            return int(value)
        case datetime():
            return int((value - datetime.fromtimestamp(0, UTC)) // timedelta(seconds=1))
        case timedelta():
            return value // timedelta(microseconds=1) * 1000
    return bounded(int(value))


def _uint(value: Any) -> int:
    if isinstance(value, str):
        return Uint(_parsed(value, "uint", int))
    if isinstance(value, float) and not (math.isfinite(value) and 0 <= value < 2**64):
        raise CelError("unsigned integer overflow")
    return bounded(int(value), unsigned=True)


def _double(value: Any) -> float:
    return _parsed(value, "double", float) if isinstance(value, str) else float(value)


def _bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value not in _TRUE | _FALSE:
        raise _unconverted("string", "bool")
    return value in _TRUE


def _parsed(text: str, name: str, read: Callable[[str], Any]) -> Any:
    try:
        if "_" in text or text != text.strip():
            raise ValueError(text)
        return read(text)
    except ValueError:
        raise _unconverted("string", name) from None


def _unconverted(given: str, wanted: str) -> CelError:
    return CelError(f"type conversion error from '{given}' to '{wanted}'")


def _string(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return number(value)
        case bytes():
            return _decoded(value)
        case datetime():
            return spell_timestamp(value)
        case timedelta():
            return spell_duration(value)
        case OpaqueValue():
            return str(value.value)
    return str(value)


def _decoded(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _timestamp(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, int):
        return datetime.fromtimestamp(value, UTC)
    found = parse_timestamp(value)
    if found is None:
        raise _unconverted("string", "google.protobuf.Timestamp")
    return found


def _duration(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, int):
        return timedelta(microseconds=value / 1000)
    found = parse_duration(value)
    if found is None:
        raise _unconverted("string", "google.protobuf.Duration")
    return found


def _part(read: Callable[[datetime], int], unit: timedelta | None = None) -> Function:
    """A part of a moment in a time zone, or a whole duration in some unit."""

    def part(value: datetime | timedelta, zone: str = "UTC") -> int:
        if isinstance(value, timedelta):
            assert unit is not None, "only these parts are declared for durations"
            return int(value / unit)
        return read(value.astimezone(_zone(zone)))

    return part


def _zone(name: str) -> timezone | ZoneInfo:
    sign = -1 if name.startswith("-") else 1
    hours, colon, minutes = name.lstrip("+-").partition(":")
    hour, minute = parse_digits(hours), parse_digits(minutes)
    try:
        if colon and hour is not None and minute is not None:
            return timezone(sign * timedelta(hours=hour, minutes=minute))
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OverflowError, OSError):
        raise CelError(f"unknown time zone {name}") from None


def _millis(value: datetime | timedelta, zone: str = "UTC") -> int:
    if isinstance(value, timedelta):
        return int(value / timedelta(milliseconds=1))
    return value.microsecond // 1000


CONVERSIONS: dict[str, Function] = {
    "bool": _bool,
    "bytes": _bytes,
    "double": _double,
    "duration": _duration,
    "int": _int,
    "string": _string,
    "timestamp": _timestamp,
    "uint": _uint,
    "getFullYear": _part(lambda at: at.year),
    "getMonth": _part(lambda at: at.month - 1),
    "getDayOfYear": _part(lambda at: at.timetuple().tm_yday - 1),
    "getDayOfMonth": _part(lambda at: at.day - 1),
    "getDate": _part(lambda at: at.day),
    "getDayOfWeek": _part(lambda at: at.isoweekday() % 7),
    "getHours": _part(lambda at: at.hour, timedelta(hours=1)),
    "getMinutes": _part(lambda at: at.minute, timedelta(minutes=1)),
    "getSeconds": _part(lambda at: at.second, timedelta(seconds=1)),
    "getMilliseconds": _millis,
}
