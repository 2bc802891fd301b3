"""Whatever text is said to be a number: it is one, or None."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.wire.digits import parse_digits


@given(st.integers(0, 10**18 - 1))
def test_a_number_is_read(number: int) -> None:
    assert parse_digits(str(number)) == number


@given(st.text())
def test_any_text_is_a_number_or_none(text: str) -> None:
    number = parse_digits(text)
    assert number is None or number == int(text)


@pytest.mark.parametrize(
    "text", ["", "\xb2", "\u0663", "-1", "+1", " 1", "1_0", "1.5", "1\n", "9" * 19, "9" * 5000]
)
def test_what_only_looks_like_a_number_is_none(text: str) -> None:
    assert parse_digits(text) is None
