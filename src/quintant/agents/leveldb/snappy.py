"""Snappy's block format, unpacked."""

from __future__ import annotations

from quintant.agents.leveldb.errors import Unreadable

MOST_BYTES = 64 * 1024 * 1024
"""A block has four kilobytes; one with a large value little more than that value."""


def unpack(data: bytes) -> bytes:
    """The bytes that were packed; Unreadable if these are no packed ones."""
    try:
        size, at = _length(data)
        if size > MOST_BYTES:
            raise Unreadable("a packed block is too large")
        made = bytearray()
        while at < len(data):
            at = _element(data, at, made)
            if len(made) > size:
                raise Unreadable("a packed block is longer than it says")
    except IndexError:
        raise Unreadable("a packed block breaks off") from None
    if len(made) != size:
        raise Unreadable("a packed block is shorter than it says")
    return bytes(made)


def _length(data: bytes) -> tuple[int, int]:
    value = shift = at = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > 28:
            raise Unreadable("a packed block has no length")


def _element(data: bytes, at: int, made: bytearray) -> int:
    """Unpack one literal or copy; where the next one begins."""
    head = data[at]
    match head & 3:
        case 0:
            return _literal(data, at, made)
        case 1:
            _copy(made, head >> 5 << 8 | data[at + 1], (head >> 2 & 7) + 4)
            return at + 2
        case 2:
            _copy(made, data[at + 1] | data[at + 2] << 8, (head >> 2) + 1)
            return at + 3
    offset = data[at + 1] | data[at + 2] << 8 | data[at + 3] << 16 | data[at + 4] << 24
    _copy(made, offset, (head >> 2) + 1)
    return at + 5


def _literal(data: bytes, at: int, made: bytearray) -> int:
    length, at = data[at] >> 2, at + 1
    if length >= 60:
        extra = length - 59
        length, at = int.from_bytes(data[at : at + extra], "little"), at + extra
    end = at + length + 1
    if end > len(data):
        raise Unreadable("a packed block breaks off")
    made += data[at:end]
    return end


def _copy(made: bytearray, offset: int, length: int) -> None:
    if not 0 < offset <= len(made):
        raise Unreadable("a packed block copies what is not there")
    start = len(made) - offset
    if offset >= length:
        made += made[start : start + length]
        return
    for index in range(start, start + length):  # it overlaps itself: a pattern that repeats
        made.append(made[index])
