"""The wire format of protobuf: a message is a row of tagged values.

A tag is a field's number and the form of its value; what the number means only a table knows
(quintant.cluster.apiserver.codec.protobuf, quintant.wire.message). Groups, which are not sent any
more, are refused. No length is believed before it is compared with what is there, so that a
reader's work is bounded by its input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum

from quintant.wire.foreign import MalformedInput

NUMBER_BITS = 64
"""Of the longest number on the wire."""

Value = int | bytes


class Wire(IntEnum):
    """The forms of values. Lengths precede strings, messages, packed lists and map entries."""

    VARINT = 0
    FIXED64 = 1
    LENGTH = 2
    FIXED32 = 5


class Malformed(MalformedInput):
    """The bytes are not the message they should be."""


_SIZES = {Wire.FIXED64.value: 8, Wire.FIXED32.value: 4}
_VARINT, _LENGTH = Wire.VARINT.value, Wire.LENGTH.value
_MORE = 0x80
"""The bit of a byte that another one follows."""


def tag(number: int, wire: Wire) -> int:
    """How a field with a number begins."""
    return number << 3 | wire


def members(data: bytes) -> Iterator[tuple[int, Value]]:
    """The tags and values of a message: numbers for VARINT, bytes for everything else."""
    at, end = 0, len(data)
    while at < end:
        key = data[at]
        at += 1
        if key >= _MORE:
            key, at = _varint(data, at - 1)
        wire = key & 7
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield key, value
            continue
        if wire == _LENGTH:
            size, at = _varint(data, at)
        elif wire in _SIZES:
            size = _SIZES[wire]
        else:
            raise Malformed(f"proto: illegal wireType {wire}")
        stop = at + size
        if stop > end:
            raise Malformed("unexpected EOF")
        yield key, data[at:stop]
        at = stop


def numbers(data: bytes) -> Iterator[int]:
    """The numbers of a packed list."""
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value


def text(value: bytes) -> str:
    """A string."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Malformed("proto: a string is not valid UTF-8") from None


def bytes_in(members: Mapping[int, Value], number: int) -> bytes:
    """The bytes of a field among the members of a message; none if it did not come."""
    value = members.get(tag(number, Wire.LENGTH), b"")
    return value if isinstance(value, bytes) else b""


def number_in(members: Mapping[int, Value], number: int) -> int:
    """The number of a field among the members of a message; 0 if it did not come."""
    value = members.get(tag(number, Wire.VARINT), 0)
    return value if isinstance(value, int) else 0


def varint(value: int) -> bytes:
    """A number that is not negative, as it is written."""
    written = bytearray()
    while value >= _MORE:
        written.append(value & 0x7F | _MORE)
        value >>= 7
    written.append(value)
    return bytes(written)


def signed(value: int, bits: int) -> int:
    """A number in two's complement, of which only the lowest bits count."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number, and where what follows it begins."""
    try:
        byte = data[at]
        if byte < _MORE:
            return byte, at + 1
        value, shift = byte & 0x7F, 0
        while byte >= _MORE:
            at, shift = at + 1, shift + 7
            if shift >= NUMBER_BITS:
                raise Malformed("proto: integer overflow")
            byte = data[at]
            value |= (byte & 0x7F) << shift
    except IndexError:
        raise Malformed("unexpected EOF") from None
    return value, at + 1
