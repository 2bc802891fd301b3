"""Quantities in whole numbers, as the scheduler adds and compares them."""

from __future__ import annotations

import pytest

from quintant.api.quantity import Quantity
from quintant.cluster.scheduler.resources import quantity_value


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("cpu", "1.5", 1500),
        ("cpu", "1n", 1),
        ("memory", "1Ki", 1024),
        ("memory", "1e999999999", 2**63 - 1),
        ("cpu", "1e999999999", (2**63 - 1) * 1000),
    ],
)
def test_a_quantity_is_rounded_up_and_never_more_than_can_be_counted(
    name: str, text: str, value: int
) -> None:
    assert quantity_value(name, Quantity(text)) == value
