"""The wire format: tagged values, and nothing that is not there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.wire.protobuf import Malformed, Value, Wire, members, numbers, signed, tag
from unit.cluster.protobuf_samples import ProtobufWriter as Written
from unit.cluster.protobuf_samples import varint

VALUES = st.lists(
    st.tuples(st.integers(1, 2**29 - 1), st.integers(0, 2**64 - 1) | st.binary(max_size=300))
)


@given(VALUES)
def test_what_was_written_is_read(values: list[tuple[int, Value]]) -> None:
    written = Written()
    for number, value in values:
        if isinstance(value, int):
            written = written.number(number, value)
        else:
            written = written.text(number, value)
    read = [(key >> 3, value) for key, value in members(written.data)]
    assert read == values


@given(st.binary())
def test_any_bytes_are_members_or_malformed(data: bytes) -> None:
    try:
        found = list(members(data))
    except Malformed:
        return
    assert sum(len(value) for _, value in found if isinstance(value, bytes)) <= len(data)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x0a", "unexpected EOF"),
        (b"\x0a\x05ab", "unexpected EOF"),
        (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "unexpected EOF"),
        (b"\x08", "unexpected EOF"),
        (b"\x09\x00", "unexpected EOF"),
        (b"\x08" + b"\xff" * 11, "integer overflow"),
        (b"\x0b\x0c", "illegal wireType 3"),
        (b"\x0e", "illegal wireType 6"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, why: str) -> None:
    with pytest.raises(Malformed, match=why):
        list(members(data))


def test_fixed_sizes_are_passed_on_as_bytes() -> None:
    data = varint(tag(3, Wire.FIXED64)) + bytes(8) + varint(tag(4, Wire.FIXED32)) + bytes(4)
    assert list(members(data)) == [
        (tag(3, Wire.FIXED64), bytes(8)),
        (tag(4, Wire.FIXED32), bytes(4)),
    ]


@given(st.lists(st.integers(0, 2**64 - 1)))
def test_a_packed_list_is_a_row_of_numbers(values: list[int]) -> None:
    assert list(numbers(b"".join(map(varint, values)))) == values


@given(st.integers(-(2**31), 2**31 - 1))
def test_a_negative_number_takes_the_width_of_a_long_one(value: int) -> None:
    assert signed(value & (2**64 - 1), 32) == signed(value & (2**64 - 1), 64) == value
