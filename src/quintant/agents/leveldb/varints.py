"""Numbers and byte strings as LevelDB writes them: seven bits to a byte, lengths before strings."""

from __future__ import annotations

from quintant.agents.leveldb.errors import Unreadable
from quintant.wire.protobuf import varint


def read_number(data: bytes, at: int) -> tuple[int, int]:
    """A number, and where what follows it begins."""
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise Unreadable("a number breaks off")


def read_bytes(data: bytes, at: int) -> tuple[bytes, int]:
    """A string of bytes, and where what follows it begins."""
    length, at = read_number(data, at)
    end = at + length
    if end > len(data):
        raise Unreadable("a string breaks off")
    return data[at:end], end


def written_bytes(data: bytes) -> bytes:
    """A string of bytes, as it is written."""
    return varint(len(data)) + data
