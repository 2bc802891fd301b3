from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.api.quantity import bounded_quantity, parse_quantity

SUFFIXES = {
    "n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"), "": Decimal(1),
    "k": Decimal(10**3), "M": Decimal(10**6), "G": Decimal(10**9), "T": Decimal(10**12),
    "P": Decimal(10**15), "E": Decimal(10**18),
    "Ki": Decimal(2**10), "Mi": Decimal(2**20), "Gi": Decimal(2**30), "Ti": Decimal(2**40),
    "Pi": Decimal(2**50), "Ei": Decimal(2**60),
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", "0"),
        ("1", "1"),
        (7, "7"),
        ("+1", "1"),
        ("-1.5Ki", "-1536"),
        ("250m", "0.25"),
        ("1.5Gi", "1610612736"),
        (".5", "0.5"),
        ("1.", "1"),
        ("1.G", "1000000000"),
        ("0010", "10"),
        ("12e6", "12000000"),
        ("12E-3", "0.012"),
        ("1e+2", "100"),
        ("1E", "1000000000000000000"),
    ],
)
def test_text_means_its_amount(text: str | int, value: str) -> None:
    assert parse_quantity(text) == Decimal(value)


@pytest.mark.parametrize(
    "text",
    ["", "Gi", "1i", "1K", "1ki", "1mi", "1e", "1e+", "1e1.5", " 1", "1 ", "--1", "1.1.1", "1_0",
     "0x1", "1\n", "\u0663"],
)  # fmt: skip
def test_text_that_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="quantit"):
        parse_quantity(text)


def test_amounts_below_a_billionth_round_away_from_zero() -> None:
    assert parse_quantity("0.1n") == Decimal("1e-9")
    assert parse_quantity("-0.1n") == Decimal("-1e-9")
    assert parse_quantity("1e-99999999") == Decimal("1e-9")
    assert parse_quantity("0e-99999999") == 0


def test_binary_amounts_stop_at_the_largest_integer_and_decimal_ones_do_not() -> None:
    assert parse_quantity("8Ei") == 2**63 - 1
    assert parse_quantity("-9Ei") == -(2**63 - 1)
    assert parse_quantity("10E") == 10**19


def test_no_digit_of_a_long_number_is_lost() -> None:
    assert str(parse_quantity("-83540521264580505607.898933263988k")) == (
        "-83540521264580505607898.933263988"
    )


@given(
    st.integers(min_value=0, max_value=10**15),
    st.integers(min_value=-3, max_value=0),
    st.sampled_from(sorted(SUFFIXES)),
)
def test_a_suffix_multiplies_exactly(digits: int, places: int, suffix: str) -> None:
    number = Decimal(digits).scaleb(places)
    wanted = number * SUFFIXES[suffix]
    if wanted < 2**63 and wanted == wanted.quantize(Decimal("1e-9")):
        assert parse_quantity(f"{number:f}{suffix}") == wanted


def test_a_quantity_beyond_what_can_be_counted_is_bounded() -> None:
    assert bounded_quantity("1e999999999") == 2**63 - 1
    assert bounded_quantity("-1e999999999") == 1 - 2**63
    assert bounded_quantity("1.5Gi") == parse_quantity("1.5Gi")
