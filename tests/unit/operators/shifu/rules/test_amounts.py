"""Amounts of memory and CPU, whatever a spec or a node says."""

from __future__ import annotations

import pytest

from quintant.api.quantity import Quantity
from quintant.operators.shifu.rules.amounts import memory_bytes, milli_amount, whole_amount

MOST = 2**63 - 1


@pytest.mark.parametrize(
    ("text", "amount"), [("64Mi", 64 * 2**20), ("1e999999999", MOST), ("9" * 5000, MOST)]
)
def test_an_amount_is_whole_and_never_more_than_can_be_counted(text: str, amount: int) -> None:
    assert memory_bytes(text) == amount
    assert whole_amount(Quantity(text)) == amount
    assert milli_amount(Quantity(text)) == amount * 1000


@pytest.mark.parametrize("text", ["0", "-1e999999999", "much"])
def test_no_amount_counts_as_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"amount|quantity"):
        memory_bytes(text)
    assert whole_amount(Quantity(text)) == 0
