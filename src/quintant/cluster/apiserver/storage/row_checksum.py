"""etcd HashKV: a checksum of every row of a file, and of all of them together.

CRC-32 finds every burst of up to 32 bits, and is one call of zlib for a row: a few hundred
nanoseconds beside the tens of microseconds that SQLite takes to write it. SQLite's own checksums
(of pages, in an extension that Python does not have) do not tell which object was hit. A sum over
all rows, kept with the revision, finds rows that are missing, or are from an earlier commit.
"""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32


class Totals(NamedTuple):
    """What the file says of itself: the last revision, how many rows, and their checksums' sum."""

    revision: int
    rows: int
    digest: int

    @property
    def checksum(self) -> int:
        """Of these numbers."""
        return crc32(b"%d %d %d" % self)


def row_checksum(key: str, rv: int, val: bytes) -> int:
    """Of a row, its key and revision included: a value under another key is no good one."""
    return crc32(val, crc32(b"%b\0%d\0" % (key.encode(errors="surrogateescape"), rv)))
