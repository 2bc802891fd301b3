"""A sorted table: of a file of gigabytes only its index and one block are read."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from quintant.agents.leveldb.crc32c import crc32c, masked
from quintant.agents.leveldb.errors import Unreadable
from quintant.agents.leveldb.snappy import unpack
from quintant.agents.leveldb.varints import read_number
from quintant.agents.leveldb.write_batch import STORED, KeyChange

MAGIC = 0xDB4775248B80FB57
FOOTER_BYTES = 48
_TRAILER = struct.Struct("<BI")
_TAG = struct.Struct("<Q")
_PLAIN, _SNAPPY = 0, 1

Handle = tuple[int, int]
"""Where a block is, and its size without trailer."""


def find_newest(file: BinaryIO, size: int, key: bytes) -> KeyChange | None:
    """The newest change of a key that a table has; None if it has none."""
    for entry, handle in _entries(_block(file, _index(file, size))):
        if entry[:-8] < key:
            continue
        offset, at = read_number(handle, 0)
        length, _ = read_number(handle, at)
        for internal, value in _entries(_block(file, (offset, length))):
            if internal[:-8] > key:
                return None
            if internal[:-8] == key:
                return _change(internal, value)
    return None


def _change(internal: bytes, value: bytes) -> KeyChange:
    (tag,) = _TAG.unpack(internal[-8:])
    return KeyChange(tag >> 8, internal[:-8], value if tag & 0xFF == STORED else None)


def _index(file: BinaryIO, size: int) -> Handle:
    if size < FOOTER_BYTES:
        raise Unreadable("a table is too short")
    file.seek(size - FOOTER_BYTES)
    footer = file.read(FOOTER_BYTES)
    if len(footer) != FOOTER_BYTES or _TAG.unpack(footer[-8:])[0] != MAGIC:
        raise Unreadable("a table is not of LevelDB, or breaks off")
    at = 0
    for _ in range(2):  # the index of other blocks, which is not read
        _, at = read_number(footer, at)
    offset, at = read_number(footer, at)
    length, _ = read_number(footer, at)
    return offset, length


def _block(file: BinaryIO, handle: Handle) -> bytes:
    offset, length = handle
    file.seek(offset)
    data = file.read(length + _TRAILER.size)
    if len(data) != length + _TRAILER.size:
        raise Unreadable("a table breaks off")
    kind, stored = _TRAILER.unpack(data[length:])
    if masked(crc32c(data[: length + 1])) != stored:
        raise Unreadable("a block of a table is damaged")
    if kind not in (_PLAIN, _SNAPPY):
        raise Unreadable(f"a block is packed in a way {kind}, which LevelDB has not")
    return data[:length] if kind == _PLAIN else unpack(data[:length])


def _entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Internal keys and values of a block, in order."""
    if len(block) < 4:
        raise Unreadable("a block is too short")
    (restarts,) = struct.unpack("<I", block[-4:])
    end = len(block) - 4 - 4 * restarts
    at, key = 0, b""
    while at < end:
        shared, at = read_number(block, at)
        own, at = read_number(block, at)
        length, at = read_number(block, at)
        if shared > len(key) or at + own + length > end:
            raise Unreadable("a block is damaged")
        key = key[:shared] + block[at : at + own]
        if len(key) < 8:
            raise Unreadable("a block has a key that is too short")
        yield key, block[at + own : at + own + length]
        at += own + length
