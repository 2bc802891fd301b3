"""watchCache: recent changes of one table in revision order, and where they are compacted.

A watch resumes from it, and a read of an older revision is the current table with later changes
undone. Changes leave by age and by count; `floor` is the invariant: every change with a revision
above it is still here. Large entries that others took the place of can be kept compressed.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

KEEP_SECONDS = 75.0
"""History a client may count on: longer than a bookmark's interval, so a resume finds its place."""
KEEP_AT_LEAST = 100
"""Changes of a quiet table that stay however old they are."""
KEEP_AT_MOST = 100_000
"""Changes of a busy table that stay however young they are: a bound on memory."""
COMPRESSED_BYTES = 4 * 1024
"""Entries that are worth it."""
FASTEST = 1
"""The level of compression: a write waits for it."""


class StoredEntry(msgspec.Struct, frozen=True, gc=False):
    """One stored object: opaque bytes, the revision of its last write, and what selectors read."""

    raw: bytes
    rv: int
    labels: Mapping[str, str]
    field_values: Mapping[str, str]


class CompressedEntry(msgspec.Struct, frozen=True, gc=False):
    """A stored object that another took the place of, in a tenth of its memory."""

    packed: bytes
    rv: int
    labels: Mapping[str, str]
    field_values: Mapping[str, str]

    def restored(self) -> StoredEntry:
        """What it was."""
        return StoredEntry(zlib.decompress(self.packed), self.rv, self.labels, self.field_values)


class Change(NamedTuple):
    """One write: `prev` is None for a creation, `cur` is None for a deletion."""

    rv: int
    key: str
    prev: StoredEntry | None
    cur: StoredEntry | None
    at: float


class _KeptChange(NamedTuple):
    """One write, as history keeps it."""

    rv: int
    key: str
    prev: StoredEntry | CompressedEntry | None
    cur: StoredEntry | CompressedEntry | None
    at: float


class Compacted(Exception):
    """The history asked for is gone; `floor` is the oldest revision that can still be asked for."""

    def __init__(self, floor: int) -> None:
        super().__init__(f"history before revision {floor} is gone")
        self.floor = floor


class History:
    """Changes of one table, trimmed as they age."""

    def __init__(self, floor: int = 0, *, compressed: bool = False) -> None:
        self.floor: int = floor
        self.compressed = compressed
        """Whether large entries of the past are compressed, for a millisecond of the next write."""
        self._changes: list[Change | _KeptChange] = []
        self._start = 0

    def __len__(self) -> int:
        return len(self._changes) - self._start

    def append(self, change: Change) -> None:
        """Add the newest change and let old ones go."""
        self._changes.append(self._compress(change) if self.compressed else change)
        while self._stale(change.at):
            self._drop()
        if self._start > len(self):
            del self._changes[: self._start]
            self._start = 0

    def since(self, rv: int) -> list[Change]:
        """The changes after a revision; Compacted if some of them are gone."""
        if rv < self.floor:
            raise Compacted(self.floor)
        first = bisect_right(self._changes, rv, lo=self._start, key=_revision)
        return [_restored(change) for change in self._changes[first:]]

    def compact(self, rv: int) -> None:
        """Forget the changes up to a revision."""
        if rv > self.floor:
            first = bisect_right(self._changes, rv, lo=self._start, key=_revision)
            self._changes, self._start = self._changes[first:], 0
            self.floor = rv

    def copy(self) -> History:
        """An independent history of the same changes."""
        twin = History(self.floor, compressed=self.compressed)
        twin._changes = self._changes[self._start :]
        return twin

    def _compress(self, change: Change) -> Change | _KeptChange:
        """A change to be kept; what was current until now is compressed wherever it is held."""
        prev = change.prev
        if prev is None or len(prev.raw) < COMPRESSED_BYTES:
            return change
        packed = CompressedEntry(
            zlib.compress(prev.raw, FASTEST), prev.rv, prev.labels, prev.field_values
        )
        at = bisect_left(self._changes, prev.rv, lo=self._start, key=_revision)
        if at < len(self._changes) and self._changes[at].rv == prev.rv:
            self._changes[at] = _KeptChange(*self._changes[at])._replace(cur=packed)
        return _KeptChange(*change)._replace(prev=packed)

    def _stale(self, now: float) -> bool:
        count = len(self._changes) - self._start
        if count > KEEP_AT_MOST:
            return True
        return count > KEEP_AT_LEAST and self._changes[self._start].at < now - KEEP_SECONDS

    def _drop(self) -> None:
        self.floor = self._changes[self._start].rv
        self._start += 1


def _revision(change: Change | _KeptChange) -> int:
    return change.rv


def _restored(change: Change | _KeptChange) -> Change:
    if isinstance(change, Change):
        return change
    prev, cur = (
        each.restored() if isinstance(each, CompressedEntry) else each
        for each in (change.prev, change.cur)
    )
    return Change(change.rv, change.key, prev, cur, change.at)
