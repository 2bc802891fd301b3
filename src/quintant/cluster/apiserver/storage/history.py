"""watchCache: recent changes of one table in revision order, and where they are compacted.

A watch resumes from it, and a read of an older revision is the current table with later changes
undone. Changes leave by age and by count; `floor` is the invariant: every change with a revision
above it is still here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

KEEP_SECONDS = 75.0
"""History a client may count on: longer than a bookmark's interval, so a resume finds its place."""
KEEP_AT_LEAST = 100
"""Changes of a quiet table that stay however old they are."""
KEEP_AT_MOST = 100_000
"""Changes of a busy table that stay however young they are: a bound on memory."""


class StoredEntry(msgspec.Struct, frozen=True, gc=False):
    """One stored object: opaque bytes, the revision of its last write, and what selectors read."""

    raw: bytes
    rv: int
    labels: Mapping[str, str]
    field_values: Mapping[str, str]


class Change(NamedTuple):
    """One write: `prev` is None for a creation, `cur` is None for a deletion."""

    rv: int
    key: str
    prev: StoredEntry | None
    cur: StoredEntry | None
    at: float


class Compacted(Exception):
    """The history asked for is gone; `floor` is the oldest revision that can still be asked for."""

    def __init__(self, floor: int) -> None:
        super().__init__(f"history before revision {floor} is gone")
        self.floor = floor


class History:
    """Changes of one table, trimmed as they age."""

    def __init__(self, floor: int = 0) -> None:
        self.floor = floor
        self._changes: list[Change] = []
        self._start = 0

    def __len__(self) -> int:
        return len(self._changes) - self._start

    def append(self, change: Change) -> None:
        """Add the newest change and let old ones go."""
        self._changes.append(change)
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
        return self._changes[first:]

    def compact(self, rv: int) -> None:
        """Forget the changes up to a revision."""
        if rv > self.floor:
            self._changes, self._start = self.since(rv), 0
            self.floor = rv

    def copy(self) -> History:
        """An independent history of the same changes."""
        twin = History(self.floor)
        twin._changes = self._changes[self._start :]
        return twin

    def _stale(self, now: float) -> bool:
        count = len(self._changes) - self._start
        if count > KEEP_AT_MOST:
            return True
        return count > KEEP_AT_LEAST and self._changes[self._start].at < now - KEEP_SECONDS

    def _drop(self) -> None:
        self.floor = self._changes[self._start].rv
        self._start += 1


def _revision(change: Change) -> int:
    return change.rv
