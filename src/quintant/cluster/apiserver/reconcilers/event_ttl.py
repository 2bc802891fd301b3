"""EventTTL: Events end an hour after they were last written.

Each of them would need a timer; they all live equally long, so one is enough: for whichever was
written first. What was written again since, or is gone already, is passed over. A server that goes
on from a store grants every event in it another hour.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import NamedTuple

from quintant.cluster.apiserver.storage.history import Change
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Table
from quintant.core.clock import monotonic

EVENTS = "events"
LIFE_SECONDS = 3600.0
"""The default of a real server's --event-ttl."""


class _End(NamedTuple):
    """When an event ends, unless its revision is another by then."""

    at: float
    key: str
    rv: int


class EventTtl:
    """Removes the events of a store in time."""

    def __init__(self, store: RevisionStore) -> None:
        self._store = store
        self._ends: deque[_End] = deque()
        self._timer: asyncio.TimerHandle | None = None
        store.subscribe(self._hear)

    def reload(self) -> None:
        """Look at everything again: the store was filled by somebody else."""
        at, entries = monotonic() + LIFE_SECONDS, self._store.table(EVENTS).entries
        self._ends = deque(_End(at, key, entry.rv) for key, entry in entries.items())
        self._wind()

    def advance(self, seconds: float) -> None:
        """Have what is there end so much sooner: the clock was advanced."""
        self._ends = deque(end._replace(at=end.at - seconds) for end in self._ends)
        self._wind()

    def close(self) -> None:
        """Remove nothing any more."""
        self._ends.clear()
        self._wind()

    def _hear(self, table: Table, change: Change) -> None:
        if table.name == EVENTS and change.cur is not None:
            self._ends.append(_End(change.at + LIFE_SECONDS, change.key, change.rv))
            if self._timer is None:
                self._wind()

    def _wind(self) -> None:
        """Set the timer for the first event to end, if there is one."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._ends:
            left = max(0.0, self._ends[0].at - monotonic())
            self._timer = asyncio.get_running_loop().call_later(left, self._expire)

    def _expire(self) -> None:
        table, now = self._store.table(EVENTS), monotonic()
        while self._ends and self._ends[0].at <= now:
            end = self._ends.popleft()
            entry = table.entries.get(end.key)
            if entry is not None and entry.rv == end.rv:
                self._store.delete(table, end.key)
        self._wind()
