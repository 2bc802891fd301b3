"""Values as Go prints them: callers of upstream's agents compare texts. Pure."""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

_ESCAPED = re.compile("[<>&\u2028\u2029]")
_NO_TEXT = re.compile("[\udc80-\udcff]")
"""Bytes that were no UTF-8, as `surrogateescape` keeps them."""
EXPONENT = 6
"""Powers of ten from which on, and below -4, Go writes an exponent."""


def go_value(value: object, *, single: bool = False) -> str:
    """A value as `%v` prints it; `single` is for floats of 32 bits."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return go_float(value, single=single)
        case datetime():
            return go_time(value)
        case None:
            return "<nil>"
        case bytes():
            return go_value(list(value))
        case str():
            return value
        case Sequence():
            return f"[{' '.join(go_value(each, single=single) for each in value)}]"
    return str(value)


def go_time(at: datetime) -> str:
    """A time as Go prints it, in UTC."""
    at = at.astimezone(UTC) if at.tzinfo else at
    fraction = f".{at:%f}".rstrip("0").rstrip(".")
    return f"{at.year:04}-{at:%m-%d %H:%M:%S}{fraction} +0000 UTC"


def go_json(document: Mapping[str, object]) -> bytes:
    """An object as Go writes it: no spaces, and nothing that means something in HTML."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    text = _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return _NO_TEXT.sub(r"\\ufffd", text).encode()


def go_hex_error(text: str) -> str:
    """What Go says of a text that is no hexadecimal; empty if it is."""
    for byte in text.encode("utf-8", "replace"):
        if chr(byte) not in "0123456789abcdefABCDEF":
            shown = f" '{chr(byte)}'" if chr(byte).isprintable() else ""
            return f"encoding/hex: invalid byte: U+{byte:04X}{shown}"
    return "encoding/hex: odd length hex string" if len(text) % 2 else ""


def go_float(value: float, *, single: bool = False) -> str:
    """The shortest text that means the value."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    text = _shortest_single(value) if single else repr(value)
    mantissa, _, power = f"{float(text):.{_digits(text) - 1}e}".partition("e")
    if value and not -4 <= int(power) < EXPONENT:
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{mantissa}e{power[0]}{int(power[1:]):02}"
    return f"{float(text):.{max(0, _digits(text) - 1 - int(power))}f}" if value else _zero(value)


def _shortest_single(value: float) -> str:
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.pack("f", float(text)) == struct.pack("f", value):
            return text
    return repr(value)


def _digits(text: str) -> int:
    mantissa = text.lower().partition("e")[0].lstrip("-").replace(".", "").lstrip("0")
    return max(1, len(mantissa.rstrip("0")))


def _zero(value: float) -> str:
    return "-0" if math.copysign(1, value) < 0 else "0"
