"""Values as Go prints them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.deviceshifu.drivers.go_text import (
    go_float,
    go_hex_error,
    go_json,
    go_value,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"), (False, "false"), (7, "7"), (-1, "-1"), ("on", "on"), (None, "<nil>"),
        (6.7, "6.7"), (1.0, "1"), (0.0, "0"), (-0.0, "-0"), (100000.0, "100000"),
        (1000000.0, "1e+06"), (1234567.0, "1.234567e+06"), (0.0001, "0.0001"), (0.00001, "1e-05"),
        (1e100, "1e+100"), (float("nan"), "NaN"), (float("inf"), "+Inf"), (-2.5, "-2.5"),
        ([1, 2], "[1 2]"), (b"\x01\xff", "[1 255]"),
        (datetime(2022, 4, 29, 8, 57, 49, 949270, UTC), "2022-04-29 08:57:49.94927 +0000 UTC"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01 00:00:00 +0000 UTC"),
    ],
)  # fmt: skip
def test_values_are_written_as_go_does(value: object, text: str) -> None:
    assert go_value(value) == text


def test_a_single_float_is_as_short_as_can_be() -> None:
    assert go_float(6.699999809265137, single=True) == "6.7"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_means_what_it_was(value: float) -> None:
    assert float(go_float(value)) == value


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (b"21 \xc2\xb0C", b'"21 \xc2\xb0C"'),
        (b"<a href='x'>&", b"\"\\u003ca href='x'\\u003e\\u0026\""),
        (b'\x00\n"\\', b'"\\u0000\\n\\"\\\\"'),
        (b"\xff\xfe", b'"\\ufffd\\ufffd"'),
        ("\u2028".encode(), b'"\\u2028"'),
    ],
)
def test_json_is_that_of_go(text: bytes, written: bytes) -> None:
    said = go_json({"message": text.decode("utf-8", "surrogateescape"), "status": 200})
    assert said == b'{"message":' + written + b',"status":200}'


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("00fF", ""),
        ("0", "encoding/hex: odd length hex string"),
        ("0z", "encoding/hex: invalid byte: U+007A 'z'"),
        ("00 11", "encoding/hex: invalid byte: U+0020 ' '"),
        ("0\n", "encoding/hex: invalid byte: U+000A"),
    ],
)
def test_bad_hexadecimal_is_told_as_go_does(text: str, error: str) -> None:
    assert go_hex_error(text) == error
