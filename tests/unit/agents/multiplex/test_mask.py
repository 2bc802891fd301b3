"""Promises of quintant.agents.multiplex.mask."""

from __future__ import annotations

from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.multiplex.mask import apply_mask, mask_with_integers

masks = st.binary(min_size=4, max_size=4)


@given(st.binary(max_size=300), masks)
def test_every_byte_is_changed_by_the_byte_of_its_turn(data: bytes, mask: bytes) -> None:
    expected = bytes(byte ^ key for byte, key in zip(data, cycle(mask), strict=False))
    assert apply_mask(data, mask) == expected
    assert mask_with_integers(data, mask) == expected


@given(st.binary(max_size=300), masks)
def test_masked_twice_is_not_masked(data: bytes, mask: bytes) -> None:
    assert mask_with_integers(mask_with_integers(data, mask), mask) == data


@pytest.mark.parametrize("data", [b"abcde", bytearray(b"abcde"), memoryview(b"xabcdex")[1:-1]])
def test_whatever_holds_bytes_is_masked(data: bytes | bytearray | memoryview) -> None:
    expected = b"````d"
    assert apply_mask(data, b"\1\2\3\4") == expected
    assert mask_with_integers(data, b"\1\2\3\4") == expected
