"""Kubernetes quantities: `500m`, `1.5Gi`, `2e3`.

A quantity stays the text its author wrote (`Quantity`); `parse_quantity` gives its exact value when
two have to be compared or added. Suffixes, rounding and bounds are those of the API server: nothing
is smaller than a billionth, and an amount with a binary suffix stops at the largest 64-bit integer.
"""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from functools import lru_cache
from typing import TypeAlias, cast

from quintant.core.quantity import Quantity as Quantity

IntOrString: TypeAlias = int | str
"""A number, or a text such as a percentage or the name of a port."""

SMALLEST_POWER = -9
LARGEST_BINARY = Decimal(2**63 - 1)
# The digits of 2**60 and of a billionth: more than any suffix or rounding adds to those written.
SPARE_DIGITS = 30
# Amounts that are kept at hand, and how long they may be: the same few are read again and again.
RECENT, SHORT_DIGITS = 256, 16

_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_DECIMAL = {
    "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # fmt: skip
_NUMBER = re.compile(r"([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)(.*)", re.DOTALL)
# The server reads exponents into 32 bits; nine digits always fit.
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]{1,9})")


def parse_quantity(text: str | int) -> Decimal:
    """The value of a quantity; ValueError when the text is not one."""
    found = _NUMBER.fullmatch(str(text))
    if found is None:
        raise ValueError(f"{text!r} is not a quantity: expected a number such as 250m, 2 or 1.5Gi")
    sign, digits, suffix = found.groups()
    short = len(digits) <= SHORT_DIGITS and len(suffix) <= SHORT_DIGITS
    size = (_size_seen if short else _size)(digits, suffix)
    return size.copy_negate() if sign == "-" else size


def bounded_quantity(text: str | int) -> Decimal:
    """The value of a quantity, within 64 bits: an exponent may name more than can be counted to.

    Take this one wherever a whole number is made of it, or another value is added.
    """
    return max(-LARGEST_BINARY, min(parse_quantity(text), LARGEST_BINARY))


@lru_cache(RECENT)
def _size_seen(digits: str, suffix: str) -> Decimal:
    return _size(digits, suffix)


def _size(digits: str, suffix: str) -> Decimal:
    exact = Context(prec=len(digits) + SPARE_DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN)
    if suffix in _BINARY:
        size = exact.multiply(Decimal(digits), Decimal(_BINARY[suffix]))
        return min(_rounded(size, exact), LARGEST_BINARY)
    return _rounded(exact.scaleb(Decimal(digits), _power(suffix)), exact)


def _power(suffix: str) -> int:
    if suffix in _DECIMAL:
        return _DECIMAL[suffix]
    if exponent := _EXPONENT.fullmatch(suffix):
        return int(exponent[1])
    raise ValueError(
        f"{suffix!r} is not a suffix of quantities: expected one of "
        f"{' '.join(filter(None, [*_DECIMAL, *_BINARY]))}, or an exponent such as e3"
    )


def _rounded(size: Decimal, exact: Context) -> Decimal:
    if cast(int, size.as_tuple().exponent) >= SMALLEST_POWER:
        return size
    return size.quantize(Decimal((0, (1,), SMALLEST_POWER)), ROUND_CEILING, exact)
