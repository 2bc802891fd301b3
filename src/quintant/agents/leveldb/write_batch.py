"""The changes within a record of a log: keys that got a value, or lost it."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from quintant.agents.leveldb.errors import Unreadable
from quintant.agents.leveldb.varints import read_bytes, written_bytes

DELETED, STORED = 0, 1
_HEADER = struct.Struct("<QI")


class KeyChange(NamedTuple):
    """What a key became."""

    sequence: int
    key: bytes
    value: bytes | None
    """None if it was deleted."""


def read_batch(data: bytes) -> Iterator[KeyChange]:
    """The changes of a batch, in order."""
    if len(data) < _HEADER.size:
        raise Unreadable("a batch is too short")
    sequence, count = _HEADER.unpack_from(data)
    at = _HEADER.size
    for number in range(count):
        if at >= len(data) or data[at] not in (DELETED, STORED):
            raise Unreadable("a batch is damaged")
        stored = data[at] == STORED
        key, at = read_bytes(data, at + 1)
        value: bytes | None = None
        if stored:
            value, at = read_bytes(data, at)
        yield KeyChange(sequence + number, key, value)
    if at != len(data):
        raise Unreadable("a batch has more than it counts")


def encode_batch(sequence: int, changes: Sequence[tuple[bytes, bytes | None]]) -> bytes:
    """Changes as a batch, the first with this sequence number."""
    parts = [_HEADER.pack(sequence, len(changes))]
    for key, value in changes:
        parts.append(bytes([DELETED if value is None else STORED]) + written_bytes(key))
        if value is not None:
            parts.append(written_bytes(value))
    return b"".join(parts)
