"""Amounts of memory, as Kubernetes writes them. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from quintant.api.quantity import Quantity, bounded_quantity

MEBIBYTE = 2**20


def memory_bytes(text: str) -> int:
    """Whole bytes; ValueError if it is no amount above zero."""
    amount = int(bounded_quantity(text))
    if amount <= 0:
        raise ValueError("expected an amount above zero, such as 64Mi")
    return amount


def amount_of(amounts: Mapping[str, Quantity], name: str) -> int:
    """What a node has of something, in whole units; 0 if it does not say, or nonsense."""
    return whole_amount(amounts.get(name))


def whole_amount(quantity: Quantity | None) -> int:
    """An amount in whole units; 0 for none and for nonsense."""
    if not quantity:
        return 0
    try:
        return max(0, int(bounded_quantity(quantity)))
    except (ValueError, ArithmeticError):
        return 0


def milli_amount(quantity: Quantity | None) -> int:
    """An amount in thousandths, as CPU is counted."""
    if not quantity:
        return 0
    try:
        return max(0, int(bounded_quantity(quantity) * 1000))
    except (ValueError, ArithmeticError):
        return 0
