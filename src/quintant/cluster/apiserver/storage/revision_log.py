"""etcd mvcc: tables of opaque entries under one global revision.

The core of the embedded cluster; it knows neither HTTP nor Kubernetes. Every call is synchronous,
so a caller that does not await sees and makes one consistent state. Each write moves the revision
by one, is appended to its table's history and told to every listener, in that order.

This store lives in memory, where a write is final at once. One that survives its process
(quintant.cluster.apiserver.storage.durable) is ahead of what it has kept: followers hear later,
`safe` waits.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Self

from msgspec import Struct, field

from quintant.cluster.apiserver.storage.history import Change, History, StoredEntry
from quintant.core.clock import monotonic

Listener = Callable[["Table", Change], None]


class NotDurable(Exception):
    """What was written cannot be made safe any more; nothing of it may be told to anybody."""


class View(Struct, frozen=True):
    """A table's entries at one revision, by key and in key order."""

    entries: Mapping[str, StoredEntry]
    keys: Sequence[str]

    def scan(self, prefix: str = "", start: str = "") -> list[tuple[str, StoredEntry]]:
        """The entries whose key has a prefix and is not before `start`, in order."""
        first = bisect_left(self.keys, max(prefix, start))
        last = bisect_left(self.keys, _after(prefix)) if prefix else len(self.keys)
        return [(key, self.entries[key]) for key in self.keys[first:last]]

    def count(self, prefix: str = "", start: str = "") -> int:
        """How many entries `scan` would find."""
        first = bisect_left(self.keys, max(prefix, start))
        last = bisect_left(self.keys, _after(prefix)) if prefix else len(self.keys)
        return max(0, last - first)


class Table(Struct):
    """The entries of one resource, now, and the changes that led here."""

    name: str
    entries: dict[str, StoredEntry] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    history: History = field(default_factory=History)

    @property
    def now(self) -> View:
        """The current entries; use it before the next write."""
        return View(self.entries, self.keys)

    def at(self, rv: int) -> View:
        """The entries as they were at a revision; Compacted if history no longer knows."""
        later = self.history.since(rv)
        if not later:
            return self.now
        entries = dict(self.entries)
        for change in reversed(later):
            if change.prev is None:
                del entries[change.key]
            else:
                entries[change.key] = change.prev
        return View(entries, sorted(entries))

    def copy(self) -> Table:
        """An independent table of the same entries."""
        return Table(self.name, dict(self.entries), list(self.keys), self.history.copy())


class Snapshot(Struct, frozen=True):
    """Everything a store held at a moment, for `RevisionStore.restore`. Not to be changed."""

    revision: int
    tables: Mapping[str, Table]


class RevisionStore:
    """Tables under one revision counter."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self.revision: int = 0
        self._floor = 0
        self._now = now
        self._tables: dict[str, Table] = {}
        self._listeners: list[Listener] = []
        self._followers: list[Listener] = []

    @classmethod
    def of(cls, snapshot: Snapshot) -> Self:
        """A store of one's own that begins with a snapshot."""
        store = cls()
        store.restore(snapshot)
        return store

    @property
    def visible(self) -> int:
        """The revision up to which followers have been told."""
        return self.revision

    def table(self, name: str) -> Table:
        """The table of that name, made when first asked for."""
        found = self._tables.get(name)
        if found is None:
            found = self._tables[name] = Table(name, history=History(self._floor))
        return found

    def subscribe(self, listener: Listener) -> None:
        """Have every change told, in order, before the write returns. A listener must not write."""
        self._listeners.append(listener)

    def follow(self, listener: Listener) -> None:
        """Have every change told, in order, as soon as no crash can undo it."""
        self._followers.append(listener)

    def when_durable(self, act: Callable[[], None]) -> None:
        """Do something once no crash can undo what was written so far; here, that is now."""
        act()

    async def durable(self) -> None:
        """Wait until no crash can undo what was written so far; NotDurable if that will not be."""

    def put(self, table: Table, key: str, content: StoredEntry) -> StoredEntry:
        """Create or replace an entry; what is stored carries the new revision."""
        entry = StoredEntry(content.raw, self.revision + 1, content.labels, content.field_values)
        previous = table.entries.get(key)
        if previous is None:
            insort(table.keys, key)
        table.entries[key] = entry
        self._record(table, key, previous, entry)
        return entry

    def update_field_values(
        self, table: Table, values: Callable[[StoredEntry], Mapping[str, str]]
    ) -> None:
        """Give entries other values to be selected by; nothing was written, nobody is told."""
        for key, entry in table.entries.items():
            table.entries[key] = StoredEntry(entry.raw, entry.rv, entry.labels, values(entry))

    def load(self, table: Table, key: str, entry: StoredEntry) -> None:
        """Have an entry as another store had it, with the revision that it had there.

        It counts as having been there from the beginning, so no history has it and no follower is
        told: nobody may be watching where it appears. Later writes have greater revisions.
        """
        self.revision = max(self.revision, entry.rv)
        previous = table.entries.get(key)
        if previous is None:
            insort(table.keys, key)
        table.entries[key] = entry
        change = Change(self.revision, key, previous, entry, self._now())
        for listener in self._listeners:
            listener(table, change)

    def delete(self, table: Table, key: str) -> Change:
        """Remove an entry; the change carries its last state and the new revision."""
        previous = table.entries.pop(key)
        del table.keys[bisect_left(table.keys, key)]
        return self._record(table, key, previous, None)

    def compact(self) -> None:
        """Forget all history: older revisions can be neither read nor watched from."""
        for table in self._tables.values():
            table.history.compact(self.revision)

    def snapshot(self) -> Snapshot:
        """Remember everything; costs a copy of references."""
        return Snapshot(self.revision, {name: t.copy() for name, t in self._tables.items()})

    def restore(self, snapshot: Snapshot) -> None:
        """Return to the entries of a snapshot. History is gone: whoever follows must start again.

        The revision goes on growing, so that a client from before finds its place expired instead
        of silently missing the change.
        """
        self.revision = max(self.revision, snapshot.revision) + 1
        self._floor = self.revision
        self._tables = {name: table.copy() for name, table in snapshot.tables.items()}
        self.compact()

    def _record(
        self, table: Table, key: str, prev: StoredEntry | None, cur: StoredEntry | None
    ) -> Change:
        self.revision += 1
        change = Change(self.revision, key, prev, cur, self._now())
        table.history.append(change)
        for listener in self._listeners:
            listener(table, change)
        for follower in self._followers:
            self.when_durable(partial(follower, table, change))
        return change


def _after(prefix: str) -> str:
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)
