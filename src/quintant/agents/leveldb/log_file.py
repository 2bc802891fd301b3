"""Records of a log, which manifests are as well: fragments with checksums, in blocks of 32 KiB.

A log that ends within a record was being written: that record never was. Anything else that does
not add up is damage. Checksums are verified by whoever needs a record: most are never looked at.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from quintant.agents.leveldb.crc32c import crc32c, masked
from quintant.agents.leveldb.errors import Unreadable

BLOCK_BYTES = 32 * 1024
_HEADER = struct.Struct("<IHB")


class _Fragment(IntEnum):
    FULL = 1
    FIRST = 2
    MIDDLE = 3
    LAST = 4


class LogRecord(NamedTuple):
    """One record, and what its checksums are said to be."""

    data: bytes
    fragments: tuple[tuple[int, bytes], ...]
    """Checksum as stored, and what it is of."""

    def verify(self) -> None:
        """Unreadable unless the record is what was written."""
        if any(masked(crc32c(covered)) != stored for stored, covered in self.fragments):
            raise Unreadable("a record of a log is damaged")


def read_records(data: bytes) -> Iterator[LogRecord]:
    """The records of a log, unverified; one that breaks off at the end is left out."""
    begun: list[tuple[int, bytes]] = []
    for kind, stored, covered in _fragments(data):
        if (kind in (_Fragment.FULL, _Fragment.FIRST)) is bool(begun):
            raise Unreadable("the records of a log do not follow each other")
        begun.append((stored, covered))
        if kind in (_Fragment.FULL, _Fragment.LAST):
            yield LogRecord(b"".join(each[1:] for _, each in begun), tuple(begun))
            begun = []


def encode_record(data: bytes, at: int) -> bytes:
    """A record as it is appended to a log of `at` bytes."""
    written, first = bytearray(), True
    while True:
        room = BLOCK_BYTES - (at + len(written)) % BLOCK_BYTES
        if room < _HEADER.size:
            written += bytes(room)
            continue
        piece, data = data[: room - _HEADER.size], data[room - _HEADER.size :]
        kind = _KINDS[first, not data]
        written += _HEADER.pack(masked(crc32c(bytes([kind]) + piece)), len(piece), kind) + piece
        first = False
        if not data:
            return bytes(written)


_KINDS = {
    (True, True): _Fragment.FULL,
    (True, False): _Fragment.FIRST,
    (False, False): _Fragment.MIDDLE,
    (False, True): _Fragment.LAST,
}


def _fragments(data: bytes) -> Iterator[tuple[_Fragment, int, bytes]]:
    """Kind, stored checksum and covered bytes of every whole fragment."""
    at, size = 0, len(data)
    while at + _HEADER.size <= size:
        left = BLOCK_BYTES - at % BLOCK_BYTES
        if left < _HEADER.size:
            at += left
            continue
        stored, length, kind = _HEADER.unpack_from(data, at)
        if not (stored or length or kind):
            if any(data[at:]):
                raise Unreadable("a log has a gap")
            return  # room that was made beforehand
        if kind not in (1, 2, 3, 4) or length > left - _HEADER.size:
            raise Unreadable("a log is damaged")
        end = at + _HEADER.size + length
        if end > size:
            return
        yield _Fragment(kind), stored, data[at + _HEADER.size - 1 : end]
        at = end
