"""JSON objects of built-in kinds, made to fit: what a real server's Go types do to them.

Reading an object into a Go structure and writing it again drops the fields the structure does not
have and the values that are empty, adds the structures that are always there, respells quantities
and times, and refuses a value of the wrong type. Here it is done in place.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from datetime import datetime
from types import UnionType
from typing import Any, NamedTuple

from quintant.cluster.golang import number, quoted
from quintant.cluster.quantities import canonical
from quintant.cluster.tables import Message, Sort, Type
from quintant.runtime.clock import micro_timestamp, timestamp

Path = tuple[Any, ...]
"""The way to a value, innermost last: the path to what holds it, then what it is called there. A
field is called by its name, an item of a list by its number, one of a map by its key in a tuple."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)")
_TIME_LAYOUT = "2006-01-02T15:04:05Z07:00"
_MICRO_LAYOUT = "2006-01-02T15:04:05.000000Z07:00"
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/]|$")
_NO_QUANTITY = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_RANGES = {Sort.INT32: range(-(2**31), 2**31), Sort.INT64: range(-(2**63), 2**63)}


class Mistyped(ValueError):
    """A value that no field of its kind can hold; the text is a real server's."""


class _Spot(NamedTuple):
    """Where a value is: in which structure, of which type, under which path."""

    message: Message
    kind: Type
    path: Path

    def below(self, element: int | tuple[str]) -> _Spot:
        return _Spot(self.message, self.kind.item, (self.path, element))

    def checked(self, sort: type | UnionType, value: Any) -> Any:
        """The value, if it is of a sort."""
        if not isinstance(value, sort):
            raise self.refused(value)
        return value

    def refused(self, value: Any, *, literal: str = "", wanted: str = "") -> Mistyped:
        """What is said about a value of the wrong type."""
        struct, names = self.message.name.rpartition(".")[2], ".".join(_names(self.path))
        found = f"{_json_type(value)}{literal and ' '}{literal}"
        return Mistyped(
            f"json: cannot unmarshal {found} into Go struct field {struct}.{names} "
            f"of type {wanted or _go_type(self.kind)}"
        )


def fit(message: Message, obj: dict[str, Any]) -> list[str]:
    """Make an object fit its message, in place; the paths of what it has no field for."""
    unknown: list[str] = []
    _Fitter(unknown).structure(message, obj, ())
    return unknown


class _Fitter:
    """One object's way through its message."""

    def __init__(self, unknown: list[str]) -> None:
        self._unknown = unknown

    def structure(self, message: Message, obj: dict[str, Any], path: Path) -> None:
        for name in [*obj]:
            field = message.fields.get(name)
            if field is None:
                self._unknown.append(_shown((path, name)))
                del obj[name]
                continue
            value = self._value(_Spot(message, field.type, (path, name)), obj[name])
            if value or (field.type.pointer and value is not None):
                obj[name] = value
            else:
                del obj[name]
        for field in message.always:
            if field.name not in obj:
                obj[field.name] = field.type.zero()

    def _value(self, spot: _Spot, value: Any) -> Any:
        """What a value becomes; None if it says nothing."""
        if value is None:
            return None
        match spot.kind.sort:
            case Sort.MESSAGE:
                return self._message(spot, value)
            case Sort.LIST | Sort.BOX:
                items = enumerate(spot.checked(list, value))
                return [self._item(spot.below(at), item) for at, item in items]
            case Sort.MAP:
                entries = spot.checked(dict, value).items()
                return {key: self._item(spot.below((key,)), item) for key, item in entries}
        return _LEAVES[spot.kind.sort](spot, value)

    def _item(self, spot: _Spot, value: Any) -> Any:
        found = self._value(spot, value)
        return spot.kind.zero() if found is None else found

    def _message(self, spot: _Spot, value: Any) -> Any:
        message = spot.kind.message
        if message.union:
            return self._union(message, value)
        self.structure(message, spot.checked(dict, value), spot.path)
        return value

    def _union(self, message: Message, value: Any) -> Any:
        """A union is read by code of its own there, which tells of no unknown field."""
        schema = message.fields["Schema"].type.message
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                fit(schema, one)
        return value


def _string(spot: _Spot, value: Any) -> Any:
    return spot.checked(str, value)


def _bool(spot: _Spot, value: Any) -> Any:
    return spot.checked(bool, value)


def _integer(spot: _Spot, value: Any) -> Any:
    return _whole(spot, value, spot.kind.sort, "")


def _whole(spot: _Spot, value: Any, sort: Sort, wanted: str) -> Any:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise spot.refused(value, wanted=wanted)
    if isinstance(value, float) or value not in _RANGES[sort]:
        raise spot.refused(value, literal=number(value), wanted=wanted)
    return value


def _number(spot: _Spot, value: Any) -> Any:
    if isinstance(value, bool):
        raise spot.refused(value)
    return spot.checked(int | float, value)


def _bytes(spot: _Spot, value: Any) -> Any:
    """Respelt, because Go reads base64 that Go would not write."""
    text = spot.checked(str, value).replace("\r", "").replace("\n", "")
    try:
        return b64encode(b64decode(text, validate=True)).decode()
    except ValueError:
        found = _NOT_BASE64.search(text.rstrip("="))
        at = found.start() if found else len(text)
        raise Mistyped(f"illegal base64 data at input byte {at}") from None


def _time(spot: _Spot, value: Any) -> Any:
    moment = _moment(spot, value, _TIME, _TIME_LAYOUT)
    return timestamp(moment)


def _micro_time(spot: _Spot, value: Any) -> Any:
    moment = _moment(spot, value, _MICRO_TIME, _MICRO_LAYOUT)
    return micro_timestamp(moment)


def _moment(spot: _Spot, value: Any, form: re.Pattern[str], layout: str) -> datetime:
    if not isinstance(value, str):
        raise spot.refused(value, wanted="string")
    try:
        if form.fullmatch(value):
            return datetime.fromisoformat(value)
    except ValueError:
        pass
    text = quoted(value)
    raise Mistyped(f'parsing time {text} as "{layout}": cannot parse {text} as "2006"')


def _quantity(spot: _Spot, value: Any) -> Any:
    try:
        return canonical(str(value).strip())
    except ValueError:
        raise Mistyped(_NO_QUANTITY) from None


def _int_or_string(spot: _Spot, value: Any) -> Any:
    return value if isinstance(value, str) else _whole(spot, value, Sort.INT32, "int32")


_LEAVES: Mapping[Sort, Callable[[_Spot, Any], Any]] = {
    Sort.STRING: _string,
    Sort.BOOL: _bool,
    Sort.INT32: _integer,
    Sort.INT64: _integer,
    Sort.FLOAT: _number,
    Sort.BYTES: _bytes,
    Sort.TIME: _time,
    Sort.MICROTIME: _micro_time,
    Sort.QUANTITY: _quantity,
    Sort.INT_OR_STRING: _int_or_string,
    Sort.JSON: lambda spot, value: value,
}
_JSON_TYPES = {dict: "object", list: "array", str: "string", bool: "bool"}
_WRAPPERS = {Sort.LIST: "[]", Sort.BOX: "[]", Sort.MAP: "map[string]"}


def _json_type(value: Any) -> str:
    return _JSON_TYPES.get(type(value), "number")


def _go_type(kind: Type) -> str:
    if kind.of is not None:
        return _WRAPPERS[kind.sort] + _go_type(kind.of)
    if kind.sort is Sort.MESSAGE:
        return ".".join(kind.name.split(".")[-2:])
    return kind.name or kind.sort.value


def _names(path: Path) -> list[str]:
    """The names of a path, without the numbers of items."""
    if not path:
        return []
    before, last = path
    return [*_names(before), last] if isinstance(last, str) else _names(before)


def _shown(path: Path) -> str:
    """A path for people: spec.containers[0].image."""
    before, last = path
    if isinstance(last, int):
        return f"{_shown(before)}[{last}]"
    name = last if isinstance(last, str) else last[0]
    return f"{_shown(before)}.{name}" if before else name
