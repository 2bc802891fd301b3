"""CanonicalizeBytes: quantities in canonical form: `1024Mi` is stored as `1Gi`, `0.5` as `500m`.

A real server reads a quantity and writes it anew; clients compare the text. Its reader keeps a text
that looks canonical to it as it came, and its idea of that is a little generous (`1.500`, `+7` and
`007` pass), which is reproduced here because the text is what others see.
"""

from __future__ import annotations

import re
from decimal import Decimal

from quintant.api.quantity import parse_quantity

DIGITS_LIMIT = 18
"""More decimal digits may not fit into 64 bits: such numbers are always written anew."""
BINARY_DIGITS_LIMIT = 14
"""The same for a number with a binary suffix, beside the digits of the suffix itself."""
NANO = -9
"""The smallest power of ten that is kept."""

_DECIMAL = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_POWERS = {suffix: power for power, suffix in _DECIMAL.items()}
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_NUMBER = re.compile(r"[+-]?0*([0-9]*)\.?([0-9]*)(.*)", re.DOTALL)


def canonical(text: str) -> str:
    """A quantity as the server writes it; ValueError when the text is not one."""
    value = parse_quantity(text)
    found = _NUMBER.fullmatch(text)
    assert found is not None, "what parses is a number and a suffix"
    number, fraction, suffix = found.groups()
    if _passes(number or "0", fraction, suffix):
        return text
    return _spelt(value, suffix)


def format_like(value: Decimal, like: str) -> str:
    """A value as the server writes it where it was added up in the manner of a quantity."""
    found = _NUMBER.fullmatch(like)
    assert found is not None, "what is like a quantity is a number and a suffix"
    return _spelt(value, found[3])


def _spelt(value: Decimal, suffix: str) -> str:
    if not value:
        return "0"
    binary = suffix in _BINARY[1:]
    if binary and abs(value) >= 1024 and value == value.to_integral_value():
        return _binary(int(value))
    return _decimal(value, exponential=not binary and suffix not in _POWERS)


def _passes(number: str, fraction: str, suffix: str) -> bool:
    """Whether the server takes the text for canonical."""
    if suffix in _BINARY[1:]:
        room = BINARY_DIGITS_LIMIT - len(number) - _BINARY.index(suffix) * 3
        return not fraction and room >= 0 and int(number) % 8 != 0
    digits = number + fraction
    power = (_POWERS[suffix] if suffix in _POWERS else int(suffix[1:])) - len(fraction)
    fits = len(digits) <= DIGITS_LIMIT and power >= NANO
    return fits and power % 3 == 0 and not digits.endswith("000") and digits[0] != "0"


def _binary(value: int) -> str:
    rank = 0
    while value % 1024 == 0:
        value, rank = value // 1024, rank + 1
    return f"{value}{_BINARY[rank]}"


def _decimal(value: Decimal, *, exponential: bool) -> str:
    sign, digits, power = value.as_tuple()
    assert isinstance(power, int), "a quantity is finite"
    written = "".join(map(str, digits))
    number = written.rstrip("0")
    power += len(written) - len(number)
    shift = power % 3
    number, power = f"{'-' if sign else ''}{number}{'0' * shift}", power - shift
    if exponential or power not in _DECIMAL:
        return f"{number}e{power}" if power else number
    return number + _DECIMAL[power]
