"""Kubernetes quantities: `500m`, `1.5Gi`, `2e3`.

A quantity stays the text its author wrote (`Quantity`); `parse_quantity` gives its exact value when
two have to be compared or added. The grammar, the rounding to a billionth away from zero and the
bounds of 64 bits are those of the API server.
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Context, Decimal
from typing import NewType, TypeAlias

Quantity = NewType("Quantity", str)
IntOrString: TypeAlias = int | str

NANO = Decimal("1e-9")
LARGEST = Decimal(2**63 - 1)
# A finer or larger amount is rounded or capped, so what lies beyond this many digits never counts.
DIGITS = 64
# Beyond these exponents every amount but zero is capped, or rounded to a billionth.
EXPONENTS = range(-1000, 1001)

_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL = {
    "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # fmt: skip
_NUMBER = re.compile(r"([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)(.*)", re.ASCII | re.DOTALL)
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)", re.ASCII)
_exact = Context(prec=DIGITS, Emax=2000, Emin=-2000)


def parse_quantity(text: str | int) -> Decimal:
    """The value of a quantity; ValueError when the text is not one."""
    found = _NUMBER.fullmatch(str(text))
    if found is None:
        raise ValueError(f"{text!r} is not a quantity: expected a number such as 250m, 2 or 1.5Gi")
    sign, digits, suffix = found.groups()
    size = _bounded(_exact.multiply(Decimal(digits), _factor(suffix)))
    return -size if sign == "-" else size


def _factor(suffix: str) -> Decimal:
    if suffix in _BINARY:
        return Decimal(2 ** _BINARY[suffix])
    if suffix in _DECIMAL:
        return Decimal(10) ** _DECIMAL[suffix]
    if exponent := _EXPONENT.fullmatch(suffix):
        power = int(exponent[1])
        return Decimal((0, (1,), min(max(power, EXPONENTS[0]), EXPONENTS[-1])))
    raise ValueError(
        f"{suffix!r} is not a suffix of quantities: expected one of "
        f"{' '.join(filter(None, [*_DECIMAL, *_BINARY]))}, or an exponent such as e3"
    )


def _bounded(size: Decimal) -> Decimal:
    if size >= LARGEST:
        return LARGEST
    return size.quantize(NANO, rounding=ROUND_CEILING, context=_exact)
