"""Cacher, cacheWatcher: watch cache, bookmarks: every change once, in revision order.

The hub follows the store: it hears of what no crash can undo. Watchers of the same selection
(namespace, selectors, form) share a `WatcherGroup`: a change is matched and written out once per
group, and the bytes are handed to its members. A stream first replays what lies between its
starting point and now, then what its group receives; joining and choosing the replay happen in one
step, so nothing is lost or told twice. A replay may hold what is not safe yet: its sender waits for
that.

Timers are the loop's: bookmarks, the deadline, all virtual in tests.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Collection, Iterable
from functools import partial
from itertools import islice
from typing import cast

from msgspec import Struct, field

from quintant.cluster.apiserver.meta.status import StatusError, resource_expired
from quintant.cluster.apiserver.storage.history import Change
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Table
from quintant.cluster.apiserver.watch.events import (
    WatchEvent,
    WatchFilter,
    bookmark_event,
    error_event,
)

BOOKMARK_SECONDS = 60.0
"""Between bookmarks: shorter than the history that is kept."""
FAREWELL_SECONDS = 2.0
"""How long before the deadline a last bookmark is sent, so that a resume starts close."""
BEHIND = 10_000
"""Changes a watcher may leave unread before it is cut: it can still resume from history."""
TOO_OLD = "The resourceVersion for the provided watch is too old."
SLICE = 256
"""Objects or changes looked at per chunk of a replay, between two turns of the loop."""


class WatchOptions(Struct, frozen=True):
    """How a stream begins and ends."""

    replay: Iterable[WatchEvent] = ()
    """Lines to send before anything live; made as they are sent."""
    seconds: float = 3600.0
    """Until the server closes the stream."""
    bookmarks: bool = False


class Watcher:
    """One open stream: what it has yet to send, and its timers."""

    def __init__(
        self, hub: WatchHub, group: WatcherGroup, options: WatchOptions, since: int
    ) -> None:
        self.group = group
        self.since = since
        self._hub = hub
        self._options = options
        self._queue: deque[WatchEvent] = deque()
        self._pending = asyncio.Event()
        self._closed = False
        self._silent = True
        self._timers: list[asyncio.TimerHandle] = []
        self._schedule()

    def push(self, frame: WatchEvent) -> None:
        """Queue a line or its change; a watcher that is too far behind is cut instead, for good."""
        if self._closed:
            return
        self._queue.append(frame)
        if len(self._queue) > BEHIND:
            self._queue.clear()
            self.close()
        self._pending.set()

    def close(self) -> None:
        """End the stream after what is queued."""
        self._closed = True
        self._pending.set()
        for timer in self._timers:
            timer.cancel()

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The replay in slices, then everything queued at a time, until closed."""
        replay = iter(self._options.replay)
        while frames := tuple(islice(replay, SLICE)):
            if lines := await self._lines(frames):
                yield self._begun(lines)
            await asyncio.sleep(0)
        while not self._closed or self._queue:
            await self._pending.wait()
            self._pending.clear()
            if self._queue:
                queued, self._queue = self._queue, deque()
                yield self._begun(await self._lines(queued))

    async def _lines(self, frames: Collection[WatchEvent]) -> bytes:
        """Lines as they are sent; where objects cannot be shown, the stream ends with why."""
        selection = self.group.selection
        convert = selection.encoder.kind.strategy.conversion.convert_for_read
        if convert is None:
            return b"".join(cast("Collection[bytes]", frames))
        changes = [frame for frame in frames if isinstance(frame, Change)]
        states = (each for change in changes for each in (change.prev, change.cur))
        try:
            await convert(entry for entry in states if entry is not None)
        except StatusError as error:
            self.close()
            return error_event(error)
        lines = (
            selection.encode_event(each) if isinstance(each, Change) else each for each in frames
        )
        return b"".join(line for line in lines if line is not None)

    def _begun(self, chunk: bytes) -> bytes:
        """A chunk, with what the first one says beside."""
        if self._silent:
            self._silent = False
            return self.group.selection.encoder.begin(chunk)
        return chunk

    def _schedule(self) -> None:
        loop = asyncio.get_running_loop()
        self._timers.append(loop.call_later(self._options.seconds, self.close))
        if self._options.bookmarks:
            farewell = max(0.0, self._options.seconds - FAREWELL_SECONDS)
            self._timers.append(loop.call_later(farewell, self._bookmark))
            self._timers.append(loop.call_later(self._hub.every, self._tick))

    def _tick(self) -> None:
        self._bookmark()
        loop = asyncio.get_running_loop()
        self._timers[-1] = loop.call_later(self._hub.every, self._tick)

    def _bookmark(self) -> None:
        revision = max(self.since, self._hub.revision)
        self.push(bookmark_event(self.group.selection.encoder, revision))


class WatcherGroup(Struct, eq=False):
    """The watchers of one selection."""

    selection: WatchFilter
    members: dict[Watcher, None] = field(default_factory=dict)
    """In the order they came: who hears first must not depend on where objects lie in memory."""

    def send(self, change: Change) -> None:
        waits = self.selection.encoder.kind.strategy.conversion.convert_for_read is not None
        frame: WatchEvent | None = change if waits else self.selection.encode_event(change)
        if frame is not None:
            for member in self.members:
                if change.rv > member.since:
                    member.push(frame)


class WatchHub:
    """Every open watch, by table and namespace. `every` is the seconds between bookmarks."""

    def __init__(self, store: RevisionStore, every: float = BOOKMARK_SECONDS) -> None:
        self.every = every
        self._store = store
        self._groups: dict[tuple[str, str], dict[WatchFilter, WatcherGroup]] = {}
        store.follow(self._on_change)

    def __len__(self) -> int:
        """How many streams are open."""
        return sum(len(group.members) for group in self._all())

    @property
    def revision(self) -> int:
        """How far every watcher has been told."""
        return self._store.visible

    def open(self, selection: WatchFilter, options: WatchOptions) -> Watcher:
        """Join: from now on every change reaches the watcher, which `leave` must end."""
        groups = self._groups.setdefault(_group_key(selection), {})
        group = groups.setdefault(selection, WatcherGroup(selection))
        watcher = Watcher(self, group, options, self._store.revision)
        group.members[watcher] = None
        return watcher

    def remove(self, watcher: Watcher) -> None:
        """Forget a watcher, and its group when it was the last member."""
        watcher.close()
        group = watcher.group
        group.members.pop(watcher, None)
        if not group.members:
            key = _group_key(group.selection)
            groups = self._groups.get(key, {})
            groups.pop(group.selection, None)
            if not groups:
                self._groups.pop(key, None)

    def close(self, table: str = "") -> None:
        """End every stream now, or those of a table after what was written so far."""
        if table:
            self._store.when_durable(partial(self._end, table))
        else:
            self._end()

    def expire(self) -> None:
        """End every stream with 410: what was sent no longer leads to what there is."""
        gone = error_event(resource_expired(TOO_OLD))
        for group in self._all():
            for member in group.members:
                member.push(gone)
                member.close()

    def _end(self, table: str = "") -> None:
        for group in self._all():
            if table in ("", group.selection.encoder.kind.table):
                for member in group.members:
                    member.close()

    def _all(self) -> list[WatcherGroup]:
        return [group for groups in self._groups.values() for group in groups.values()]

    def _on_change(self, table: Table, change: Change) -> None:
        for group in self._groups.get((table.name, ""), {}).values():
            group.send(change)
        namespace = change.key.rpartition("/")[0]
        if namespace:
            for group in self._groups.get((table.name, namespace), {}).values():
                group.send(change)


def _group_key(selection: WatchFilter) -> tuple[str, str]:
    return selection.encoder.kind.table, selection.namespace
