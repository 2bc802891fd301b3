"""UnmarshalCaseSensitivePreserveInts: built-in kinds as Go types make them.

Reading an object into a Go structure and writing it again drops the fields the structure does not
have and the values that are empty, adds the structures that are always there, respells quantities
and times, and refuses a value of the wrong type. Here it is done in place, by functions that are
made once for every message.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, NamedTuple

from quintant.cluster.apiserver.go_types import FieldKind, FieldType, MessageType
from quintant.cluster.apiserver.go_types.coerce_errors import (
    CoercionError,
    FieldPosition,
    Path,
    shown,
)
from quintant.cluster.apiserver.golang.printing import encoded, number, quoted
from quintant.cluster.apiserver.meta.quantity import canonical
from quintant.core.clock import micro_timestamp, timestamp

__all__ = ["CoercionError", "coerce"]

Coerce = Callable[[Any, Path, list[str]], Any]
"""What becomes of a value (never null) at a path; paths of unknown fields are added to the list."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)")
_TIME_LAYOUT = "2006-01-02T15:04:05Z07:00"
_MICRO_LAYOUT = "2006-01-02T15:04:05.000000Z07:00"
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/]")
_QUANTUM = 4
"""Characters of base64 that are read together: what is amiss with the last ones, begins there."""
_NO_QUANTITY = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_PLAIN = {FieldKind.STRING: str, FieldKind.BOOL: bool, FieldKind.INT_OR_STRING: str}
_LONGEST_TIME = 40
"""Characters of a time whose spelling is kept: longer ones would fill the memory."""
_RANGES = {FieldKind.INT32: range(-(2**31), 2**31), FieldKind.INT64: range(-(2**63), 2**63)}


def coerce(message: MessageType, obj: dict[str, Any]) -> list[str]:
    """Make an object fit its message, in place; the paths of what it has no field for."""
    unknown: list[str] = []
    _structure(message, obj, (), unknown)
    return unknown


def _structure(message: MessageType, obj: dict[str, Any], path: Path, unknown: list[str]) -> None:
    fields = _fields(message)
    for name in [*obj]:
        field, value = fields.get(name), obj[name]
        if field is None:
            unknown.append(shown((path, name)))
            del obj[name]
            continue
        if value is not None and type(value) is not field.plain:
            value = obj[name] = field.coerce(value, (path, name), unknown)
        if not value and (value is None or not field.pointer):
            del obj[name]
    for absent in message.always:
        if absent.name not in obj:
            obj[absent.name] = absent.type.zero()


class _Field(NamedTuple):
    coerce: Coerce
    pointer: bool
    """Empty values are kept."""
    plain: type | None
    """Values of this type fit as they are."""


@cache
def _fields(message: MessageType) -> Mapping[str, _Field]:
    return {
        name: _Field(
            _fit(FieldPosition(message, field.type)),
            _kept_empty(field.type),
            _PLAIN.get(field.type.kind),
        )
        for name, field in message.fields.items()
    }


def _kept_empty(kind: FieldType) -> bool:
    return kind.pointer or kind.kind is FieldKind.JSON


def _fit(spot: FieldPosition) -> Coerce:
    made = _MAKERS.get(spot.type.kind)
    return made(spot) if made is not None else lambda value, path, unknown: value


def _message(spot: FieldPosition) -> Coerce:
    if spot.type.message.union:
        return _union(spot)

    def fitted(value: Any, path: Path, unknown: list[str]) -> Any:
        if type(value) is not dict:
            raise spot.refused(value, path)
        _structure(spot.type.message, value, path, unknown)
        return value

    return fitted


def _union(spot: FieldPosition) -> Coerce:
    """A union is read by code of its own there, which tells of no unknown field.

    It is a schema, or what the other member is: a truth, a list of schemas or of texts. Whatever
    else stands in the place of a list is nothing.
    """
    members = spot.type.message.fields
    schema = members["Schema"].type.message
    listed = next((member.type for member in members.values() if member.type.of is not None), None)
    several = None if listed is None else _list(FieldPosition(spot.message, listed))

    def fitted(value: Any, path: Path, unknown: list[str]) -> Any:
        if type(value) is dict:
            coerce(schema, value)
        elif several is None and type(value) is not bool:
            raise CoercionError("boolean or JSON schema expected")
        elif several is not None:
            return several(value, path, []) or None if type(value) is list else None
        return value

    return fitted


def _list(spot: FieldPosition) -> Coerce:
    item, zero = _fit(spot.item), spot.item.type.zero

    def fitted(value: Any, path: Path, unknown: list[str]) -> Any:
        if type(value) is not list:
            raise spot.refused(value, path)
        return [
            zero() if one is None else item(one, (path, at), unknown)
            for at, one in enumerate(value)
        ]

    return fitted


def _map(spot: FieldPosition) -> Coerce:
    item, zero = _fit(spot.item), spot.item.type.zero

    def fitted(value: Any, path: Path, unknown: list[str]) -> Any:
        if type(value) is not dict:
            raise spot.refused(value, path)
        return {
            key: zero() if one is None else item(one, (path, (key,)), unknown)
            for key, one in value.items()
        }

    return fitted


def _plain(spot: FieldPosition, *sorts: type) -> Coerce:
    def fitted(value: Any, path: Path, unknown: list[str]) -> Any:
        if type(value) not in sorts:
            raise spot.refused(value, path)
        return value

    return fitted


def _double(spot: FieldPosition) -> Coerce:
    """A number that Go holds as a float64: a whole one beyond 2^53 loses its last digits."""

    def fitted(value: Any, path: Path, unknown: list[str]) -> Any:
        if type(value) not in (float, int):
            raise spot.refused(value, path)
        try:
            written = encoded(float(value))
        except OverflowError:
            raise spot.refused(value, path, literal=str(value), wanted="float64") from None
        return int(written) if written.lstrip("-").isdigit() else float(value)

    return fitted


def _text(spot: FieldPosition, respelt: Callable[[str], str]) -> Coerce:
    wanted = "" if spot.type.kind is FieldKind.BYTES else "string"

    def fitted(value: Any, path: Path, unknown: list[str]) -> Any:
        if type(value) is not str:
            raise spot.refused(value, path, wanted=wanted)
        return respelt(value)

    return fitted


def _whole(spot: FieldPosition, sort: FieldKind) -> Coerce:
    within, name = _RANGES[sort], spot.type.name or sort.value

    def fitted(value: Any, path: Path, unknown: list[str]) -> Any:
        if type(value) is int and value in within:
            return value
        literal = number(value) if type(value) in (int, float) else ""
        raise spot.refused(value, path, literal=literal, wanted=name)

    return fitted


def _int_or_string(spot: FieldPosition) -> Coerce:
    whole = _whole(spot, FieldKind.INT32)

    def fitted(value: Any, path: Path, unknown: list[str]) -> Any:
        return value if type(value) is str else whole(value, path, unknown)

    return fitted


def _respelt_bytes(text: str) -> str:
    """Go reads base64 that Go would not write."""
    text = text.replace("\r", "").replace("\n", "")
    try:
        return b64encode(b64decode(text, validate=True)).decode()
    except ValueError:
        text = f"illegal base64 data at input byte {_illegal(text)}"
        raise CoercionError(text, f"error decoding from json: {text}") from None


def _illegal(text: str) -> int:
    """Where Go finds fault with what is no base64."""
    found = _NOT_BASE64.search(text.rstrip("="))
    if found:
        return found.start()
    rest = len(text) % _QUANTUM
    half_padded = rest == _QUANTUM - 1 and text.endswith("=")
    return len(text) if half_padded else len(text) - rest


def _moment(text: str, form: re.Pattern[str], layout: str) -> datetime:
    try:
        if form.fullmatch(text):
            return datetime.fromisoformat(text)
    except ValueError:
        pass
    spelt = quoted(text)
    raise CoercionError(f'parsing time {spelt} as "{layout}": cannot parse {spelt} as "2006"')


def _respelt_time(text: str) -> str:
    # The same times come again and again: of creation, of an owner's last write, of conditions.
    return _known_time(text) if len(text) <= _LONGEST_TIME else _time(text)


def _time(text: str) -> str:
    return timestamp(_moment(text, _TIME, _TIME_LAYOUT))


def _respelt_micro_time(text: str) -> str:
    return _known_micro_time(text) if len(text) <= _LONGEST_TIME else _micro_time(text)


def _micro_time(text: str) -> str:
    return micro_timestamp(_moment(text, _MICRO_TIME, _MICRO_LAYOUT))


_known_time, _known_micro_time = lru_cache(1024)(_time), lru_cache(1024)(_micro_time)


def _quantity(value: Any) -> str:
    try:
        return canonical(str(value).strip())
    except ValueError:
        raise CoercionError(_NO_QUANTITY) from None


_MAKERS: Mapping[FieldKind, Callable[[FieldPosition], Coerce]] = {
    FieldKind.MESSAGE: _message,
    FieldKind.LIST: _list,
    FieldKind.BOX: _list,
    FieldKind.MAP: _map,
    FieldKind.STRING: lambda spot: _plain(spot, str),
    FieldKind.BOOL: lambda spot: _plain(spot, bool),
    FieldKind.FLOAT: _double,
    FieldKind.INT32: lambda spot: _whole(spot, FieldKind.INT32),
    FieldKind.INT64: lambda spot: _whole(spot, FieldKind.INT64),
    FieldKind.INT_OR_STRING: _int_or_string,
    FieldKind.BYTES: lambda spot: _text(spot, _respelt_bytes),
    FieldKind.TIME: lambda spot: _text(spot, _respelt_time),
    FieldKind.MICROTIME: lambda spot: _text(spot, _respelt_micro_time),
    FieldKind.QUANTITY: lambda spot: lambda value, path, unknown: _quantity(value),
}
"""How values of a sort are made to fit; those of any other do as they are."""
