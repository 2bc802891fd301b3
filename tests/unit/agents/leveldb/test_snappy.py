"""Snappy's blocks: every kind of element, and what breaks off."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.leveldb.errors import Unreadable
from quintant.agents.leveldb.snappy import unpack
from unit.agents.leveldb.database_files import snappy


@given(st.lists(st.sampled_from([b"abcdefgh", b"01", b"x" * 70, b"\0"])).map(b"".join))
def test_what_was_packed_is_unpacked(data: bytes) -> None:
    assert unpack(snappy(data)) == data


@pytest.mark.parametrize(
    ("packed", "data"),
    [
        (b"\x0a\x00a\x15\x01", b"a" * 10),  # copies that overlap what they make
        (b"\x46\xf0\x45" + b"y" * 70, b"y" * 70),  # a literal with a length of its own
        (b"\x05\x00b\x0f\x01\x00\x00\x00", b"b" * 5),  # an offset of four bytes
    ],
)
def test_elements_of_every_kind_are_understood(packed: bytes, data: bytes) -> None:
    assert unpack(packed) == data


@given(st.binary(max_size=40))
def test_any_bytes_are_unpacked_or_refused(data: bytes) -> None:
    try:
        unpack(data)
    except Unreadable:
        return


@pytest.mark.parametrize(
    "data", [b"", b"\x05", b"\x05\x10ab", b"\x01\x05\x09", b"\xff\xff\xff\xff\x7f"]
)
def test_what_breaks_off_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable):
        unpack(data)
