"""Promises of quintant.cluster.controllers.int_or_percent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.api.quantity import IntOrString
from quintant.cluster.controllers.int_or_percent import scaled_value


@pytest.mark.parametrize(
    ("value", "total", "up", "down"),
    [
        (None, 10, 0, 0), (3, 10, 3, 3), (0, 10, 0, 0), ("25%", 10, 3, 2), ("25%", 4, 1, 1),
        ("1%", 3, 1, 0), ("100%", 3, 3, 3), ("150%", 3, 5, 4), ("0%", 3, 0, 0), ("50%", 0, 0, 0),
    ],
)  # fmt: skip
def test_percentages_are_rounded(value: IntOrString | None, total: int, up: int, down: int) -> None:
    assert scaled_value(value, total, up=True) == up
    assert scaled_value(value, total, up=False) == down


@given(st.integers(0, 100), st.integers(0, 10_000))
def test_rounding_differs_by_less_than_one(percent: int, total: int) -> None:
    up, down = (scaled_value(f"{percent}%", total, up=way) for way in (True, False))
    assert 0 <= down <= percent * total / 100 <= up <= down + 1
