"""metav1.Time, resource.Quantity, IntOrString, RawExtension: protobuf to JSON.

From what a field holds on the wire to its JSON form, as Go writes it. Several are messages of their
own there: a time is its seconds, an integer or string says which it is.
"""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Any

import msgspec

from quintant.cluster.apiserver.go_types import FieldKind
from quintant.cluster.apiserver.meta.quantity import canonical
from quintant.core.clock import micro_timestamp, timestamp
from quintant.wire.protobuf import (
    Malformed,
    Value,
    bytes_in,
    members,
    number_in,
    signed,
    text,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_TIME = datetime.min.replace(tzinfo=UTC)
_STRING_TYPE = 1
"""The IntOrString that is a string."""


def _float(value: bytes) -> float:
    (number,) = struct.unpack("<d", value)
    if not isfinite(number):
        raise Malformed(f"json: unsupported value: {number}")
    # Go writes a whole number without a fraction.
    return int(number) if number.is_integer() else float(number)


def _time(value: bytes) -> str | None:
    moment = _moment(dict(members(value)))
    return timestamp(moment) if value and moment != _NO_TIME else None


def _micro_time(value: bytes) -> str | None:
    fields = dict(members(value))
    moment = _moment(fields, signed(number_in(fields, 2), 32) // 1000)
    return micro_timestamp(moment) if value and moment != _NO_TIME else None


def _moment(fields: Mapping[int, Value], micros: int = 0) -> datetime:
    try:
        return _EPOCH + timedelta(seconds=signed(number_in(fields, 1), 64), microseconds=micros)
    except OverflowError:
        raise Malformed("a time is out of range") from None


def _quantity(value: bytes) -> str:
    fields = dict(members(value))
    try:
        return canonical(text(bytes_in(fields, 1))) if fields else "0"
    except ValueError as error:
        raise Malformed(str(error)) from None


def _int_or_string(value: bytes) -> int | str:
    found = dict(members(value))
    if number_in(found, 1) == _STRING_TYPE:
        return text(bytes_in(found, 3))
    return signed(number_in(found, 2), 32)


def _json(value: bytes) -> Any:
    written = bytes_in(dict(members(value)), 1)
    try:
        return msgspec.json.decode(written) if written else None
    except (ValueError, RecursionError) as error:
        raise Malformed(str(error)) from None


LEAVES: Mapping[FieldKind, Callable[[Any], Any]] = {
    FieldKind.STRING: text,
    FieldKind.BOOL: lambda value: value != 0,
    FieldKind.INT32: lambda value: signed(value, 32),
    FieldKind.INT64: lambda value: signed(value, 64),
    FieldKind.FLOAT: _float,
    FieldKind.BYTES: lambda value: b64encode(value).decode(),
    FieldKind.TIME: _time,
    FieldKind.MICROTIME: _micro_time,
    FieldKind.QUANTITY: _quantity,
    FieldKind.INT_OR_STRING: _int_or_string,
    FieldKind.JSON: _json,
}
