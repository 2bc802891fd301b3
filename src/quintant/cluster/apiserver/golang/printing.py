"""strconv.Quote, fmt.Printf, ErrorBody: values as Go prints them in messages, word for word.

Three spellings occur in them: quoted text (`%q`), plain values (`%v`) and JSON with sorted keys.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

_INT64 = range(-(2**63), 2**63)
_ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
# Go's JSON encoder keeps these out of HTML.
_MARKUP = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})
# Between which powers of ten a float is written out, without an exponent.
_PLAIN, _JSON = range(-4, 6), range(-6, 21)

# Where a real server keeps its kinds; it says so.
_SCHEME = '"pkg/runtime/scheme.go:111"'


class GoStruct(dict[str, Any]):
    """A Go structure: its members are printed in the order they have."""


def shown(value: Any) -> str:
    """A value in a message: text quoted, numbers and booleans plain, the rest as JSON."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return number(value) if isinstance(value, int | float) else encoded(value)


def quoted(text: str) -> str:
    """A string as `%q` prints it."""
    return f'"{"".join(_quoted(char) for char in text)}"' if _special(text) else f'"{text}"'


def number(value: float) -> str:
    """A number as `%v` prints it."""
    return str(value) if isinstance(value, int) else _float(value, _PLAIN)


def plain(value: Any) -> str:
    """A value as `%v` prints it: maps and lists in brackets, text as it is."""
    match value:
        case None:
            return "<nil>"
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case Mapping():
            return f"map[{' '.join(f'{key}:{plain(value[key])}' for key in sorted(value))}]"
        case Sequence():
            return f"[{' '.join(plain(item) for item in value)}]"
    return number(value)


def encoded(value: Any) -> str:
    """A value as Go's JSON encoder writes it: keys sorted, nothing that HTML could misread."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _float(value, _JSON).replace("e-0", "e-")
        case str():
            return json.dumps(value, ensure_ascii=False).translate(_MARKUP)
        case Mapping():
            keys = value if isinstance(value, GoStruct) else sorted(value)
            members = (f"{encoded(key)}:{encoded(value[key])}" for key in keys)
            return f"{{{','.join(members)}}}"
        case Sequence():
            return f"[{','.join(encoded(item) for item in value)}]"
    raise TypeError(f"no JSON value: {value!r}")


def held(value: Any) -> Any:
    """A JSON value as Go holds it where it knows no type: a number that is no int64 is a float64.

    OverflowError, in Go's words, for one that is neither.
    """
    if isinstance(value, dict):
        return {key: held(below) for key, below in value.items()}
    if isinstance(value, list):
        return [held(below) for below in value]
    if type(value) is not int or value in _INT64:
        return value
    try:
        return float(value)
    except OverflowError:
        text = f"json: cannot unmarshal number {value} into Go value of type float64"
        raise OverflowError(text) from None


def unmarshalled(value: Any, wanted: str) -> str:
    """The complaint of Go's JSON reader about a value that shall become something else."""
    names = {bool: "bool", str: "string", list: "array", dict: "object"}
    found = names.get(type(value)) or (f"number {number(value)}" if _broken(value) else "number")
    return f"json: cannot unmarshal {found} into Go {wanted}"


def unregistered(kind: str, version: str) -> str:
    """The complaint of Go's readers about a kind that they do not have."""
    return f"no kind {quoted(kind)} is registered for version {quoted(version)} in scheme {_SCHEME}"


def _broken(value: Any) -> bool:
    return isinstance(value, float) and not value.is_integer()


def _special(text: str) -> bool:
    return not text.isprintable() or '"' in text or "\\" in text


def _quoted(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _float(value: float, written_out: range) -> str:
    """The shortest digits that stand for a float, as Go lays them out."""
    exact = Decimal(repr(value))
    if not value or not exact.is_finite() or exact.adjusted() in written_out:
        return format(exact, "f").removesuffix(".0")
    digits = "".join(map(str, exact.as_tuple().digits)).rstrip("0")
    sign, rest = "-" if value < 0 else "", f".{digits[1:]}" if digits[1:] else ""
    return f"{sign}{digits[0]}{rest}e{exact.adjusted():+03d}"
