"""etcd wal.Verify: whether commits lie behind a damaged part of SQLite's log.

A server that is killed leaves a log. SQLite reads it up to the first frame whose checksum is
wrong, and forgets the rest: right for the end of a log that was being written, and a silent loss
where a bit has changed before commits that were acknowledged.

    header   magic, version, page size, sequence, salts, checksum         32 bytes, big-endian
    frame    page, size after a commit or 0, salts, checksum, the page    24 bytes and a page
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

HEADER = struct.Struct(">8I")
FRAME = struct.Struct(">6I")
MAGIC = 0x377F0682
"""The lowest bit tells the order of bytes in which checksums are made."""
SMALLEST_PAGE, LARGEST_PAGE = 512, 65536
_MASK = 0xFFFFFFFF

Sums = tuple[int, int]


class _Frame(NamedTuple):
    commit: bool
    salts: tuple[int, int]
    sums: Sums
    summed: bytes
    """What the checksum is of."""


def lost_commits(log: bytes) -> int | None:
    """How many commits SQLite would not read because of damage before them; None if unknown."""
    if len(log) < HEADER.size:
        return 0
    magic, _, size, _, *salts, first, second = HEADER.unpack_from(log)
    order = ">" if magic & 1 else "<"
    sums = _checksum(log[: HEADER.size - 8], order, (0, 0))
    if magic & ~1 != MAGIC or sums != (first, second):
        return None if any(log) else 0
    if not SMALLEST_PAGE <= size <= LARGEST_PAGE:
        return None
    return _behind(_frames(log, size), tuple(salts), order, sums)


def _behind(frames: Iterator[_Frame], salts: tuple[int, ...], order: str, sums: Sums) -> int:
    """The commits of this log after its first frame that is not as it was written."""
    for frame in frames:
        whole = _checksum(frame.summed, order, sums)
        if frame.salts != salts or whole != frame.sums:
            # This one may be a commit that a kill has cut off: nobody was told of that.
            return sum(later.commit and later.salts == salts for later in frames)
        sums = whole
    return 0


def _frames(log: bytes, size: int) -> Iterator[_Frame]:
    step = FRAME.size + size
    for start in range(HEADER.size, len(log) - step + 1, step):
        _, after, *salts, first, second = FRAME.unpack_from(log, start)
        page = log[start + FRAME.size : start + step]
        summed = log[start : start + 8] + page
        yield _Frame(after != 0, (salts[0], salts[1]), (first, second), summed)


def _checksum(raw: bytes, order: str, sums: Sums) -> Sums:
    first, second = sums
    words = iter(struct.unpack(f"{order}{len(raw) // 4}I", raw))
    for even, odd in zip(words, words, strict=True):
        first = (first + even + second) & _MASK
        second = (second + odd + first) & _MASK
    return first, second
