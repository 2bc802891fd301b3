"""Reports to people what happened to an object, as Events of events.k8s.io.

`Recorder.event` is called from reconciles: it never waits, never raises, and remembers at most a
fixed number of events. `Recorder.run` writes them behind, retries when the API server is away, and
keeps the count of what repeats (`series`). What could not be written is counted as dropped.
Emit an event on a transition, not on every pass.

`Recorder.confirm` waits until the API server has an event: for what nothing else will tell, such as
what stays behind of an object that goes.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from quintant.api.events import Event, EventType
from quintant.api.meta import ObjectReference
from quintant.client.rest import MERGE, Patch, Rest
from quintant.core import codec
from quintant.core.clock import Clock, Random, monotonic
from quintant.core.errors import (
    AlreadyExists,
    NotFound,
    QuintantError,
    ServerError,
    TooManyRequests,
    TransportError,
)
from quintant.core.object import Object, ObjectMeta, replace
from quintant.runtime.events.series import (
    REASON_BYTES,
    EventBudget,
    EventKey,
    EventSeriesEntry,
    SeriesAction,
    build_event,
    event_name,
    identity_stamp,
    next_step,
    object_reference,
    truncate,
)
from quintant.runtime.observe.logs import get_logger, reconcile
from quintant.runtime.observe.metrics import Metrics

# Events that wait for their first write; the newest are dropped beyond it.
QUEUE_LIMIT = 1000
# Events and spam allowances remembered; the ones longest unused are forgotten beyond it.
MEMORY_LIMIT = 4096
# An API server may be away for two minutes before an event is given up.
ATTEMPTS = 12
RETRY_SECONDS = 10.0
RETRY_JITTER = 0.2
# How long a stopping process waits for its last events.
FLUSH_SECONDS = 5.0

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RETRIED = (TransportError, ServerError, TooManyRequests)

K = TypeVar("K")
V = TypeVar("V")

log: Final = get_logger()


class Recorder:
    """Writes events behind the back of reconciles.

    `name` reports what happens outside of a reconcile; inside one, its controller does. `instance`
    tells replicas apart.
    """

    def __init__(
        self,
        rest: Rest,
        name: str,
        *,
        clock: Clock,
        random: Random,
        metrics: Metrics,
        instance: str = "",
    ) -> None:
        self._rest, self._clock, self._random, self._metrics = rest, clock, random, metrics
        self._name, self._instance = name, truncate(instance or name, REASON_BYTES)
        self._entries: dict[EventKey, EventSeriesEntry] = {}
        self._unwritten: set[EventKey] = set()
        self._tries: dict[str, int] = {}
        """How often events that are waited for were tried, by name."""
        self._allowances: dict[tuple[ObjectReference, str], EventBudget] = {}
        self._alarms: list[tuple[float, int, EventKey]] = []
        self._tickets = itertools.count()
        self._rung = asyncio.Event()
        self._pen = asyncio.Lock()
        self._stamp = 0
        self._complaint = ""

    def event(
        self,
        regarding: Object | ObjectReference,
        type: EventType,
        reason: str,
        note: str,
        *,
        action: str = "",
        related: Object | ObjectReference | None = None,
    ) -> None:
        """Report that something happened: `reason` names it in one word, `note` describes it.

        `action` is what the controller did or tried; the reason stands in for it when empty.
        Texts beyond the API's limits are cut.
        """
        try:
            key = self._key(regarding, type, reason, action, related)
        except QuintantError as error:
            self._drop(str(error))
        else:
            self._note(key, note)

    async def confirm(
        self,
        regarding: Object | ObjectReference,
        type: EventType,
        reason: str,
        note: str,
        *,
        action: str = "",
    ) -> None:
        """Report something, and return when the API server has the event.

        Whoever reports the same again, after a crash as well, finds it there. Raises what a server
        that is away raises, ATTEMPTS times; then, and if it refuses the event for good, it is
        dropped: nothing waits for an event for ever.
        """
        key = self._key(regarding, type, reason, action, None)
        event = build_event(key, note, self._clock.now(), identity_stamp(key, note))
        name = event.metadata.name
        try:
            await self._rest.create(event, {})
        except AlreadyExists:
            pass
        except _RETRIED as error:
            tries = self._tries.get(name, 0) + 1
            if tries < ATTEMPTS:
                _remember(self._tries, name, tries, lambda _: True)
                raise
            self._drop(str(error))
        except QuintantError as error:
            self._drop(str(error))
        self._tries.pop(name, None)

    def _key(
        self,
        regarding: Object | ObjectReference,
        type: EventType,
        reason: str,
        action: str,
        related: Object | ObjectReference | None,
    ) -> EventKey:
        controller = reconcile().get("controller", self._name)
        reason = truncate(reason, REASON_BYTES) or "Unknown"
        about, other = object_reference(regarding), object_reference(related) if related else None
        kind = "Normal" if type == "Normal" else "Warning"  # the API knows no other
        action = truncate(action, REASON_BYTES) or reason
        return EventKey(kind, action, reason, controller, self._instance, about, other)

    async def run(self) -> None:
        """Write events until cancelled."""
        while True:
            await self._alarm()
            _, _, key = heapq.heappop(self._alarms)
            entry = self._entries.get(key)
            if entry is not None and entry.due <= monotonic():
                await self._tend(key, entry)

    async def flush(self, seconds: float = FLUSH_SECONDS) -> None:
        """Write what is not written yet, once each: for the end, when nothing happens any more."""
        pending = [held for held in self._entries.items() if held[1].count > held[1].written]
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                for key, entry in pending:
                    await self._write(key, entry, last=True)
        for _ in self._unwritten:
            self._drop("the process stopped")

    def _note(self, key: EventKey, note: str) -> None:
        now, moment = monotonic(), self._clock.now()
        entry = self._entries.pop(key, None)
        if entry is not None:
            entry.record(now, moment)
            self._entries[key] = entry
            if entry.written == 1 and not entry.attempts and entry.due > now:
                self._schedule(key, entry, now)
        elif len(self._unwritten) >= QUEUE_LIMIT:
            self._drop("too many events wait to be written")
        elif not self._allowance(key).take(now):
            self._drop("too many events about one object")
        else:
            entry = EventSeriesEntry(
                build_event(key, note, moment, self._unique(moment)), now, moment
            )
            _remember(self._entries, key, entry, lambda kept: kept.written > 0)
            self._unwritten.add(key)
            self._schedule(key, entry, now)

    def _allowance(self, key: EventKey) -> EventBudget:
        name = key.regarding, key.reason
        allowance = self._allowances.pop(name, None) or EventBudget()
        _remember(self._allowances, name, allowance, lambda _: True)
        return allowance

    def _unique(self, moment: datetime) -> int:
        """Nanoseconds for the name of an event, never the same twice."""
        nanoseconds = (moment - _EPOCH) // timedelta(microseconds=1) * 1000
        self._stamp = max(self._stamp + 1, nanoseconds)
        return self._stamp

    def _schedule(self, key: EventKey, entry: EventSeriesEntry, at: float) -> None:
        entry.due = at
        heapq.heappush(self._alarms, (at, next(self._tickets), key))
        self._rung.set()

    async def _alarm(self) -> None:
        """Return when the head of the alarms is due."""
        while not self._alarms or self._alarms[0][0] > monotonic():
            self._rung.clear()
            at = self._alarms[0][0] if self._alarms else None
            with suppress(TimeoutError):
                async with asyncio.timeout_at(at):
                    await self._rung.wait()

    async def _tend(self, key: EventKey, entry: EventSeriesEntry) -> None:
        needs = next_step(entry, monotonic())
        if needs.do is SeriesAction.WRITE:
            await self._write(key, entry)
        elif needs.do is SeriesAction.WAIT:
            self._schedule(key, entry, needs.at)
        else:
            del self._entries[key]

    async def _write(self, key: EventKey, entry: EventSeriesEntry, *, last: bool = False) -> None:
        async with self._pen:  # `flush` may come while `run` is still writing
            if self._entries.get(key) is entry and entry.count > entry.written:
                await self._attempt(key, entry, last=last)

    async def _attempt(self, key: EventKey, entry: EventSeriesEntry, *, last: bool) -> None:
        count = entry.count
        try:
            await self._send(entry)
        except _RETRIED as error:
            entry.attempts += 1
            if last or entry.attempts >= ATTEMPTS:
                self._give_up(key, str(error))
            else:
                pause = self._random.jitter(RETRY_SECONDS, RETRY_JITTER)
                self._schedule(key, entry, monotonic() + pause)
        except QuintantError as error:
            self._give_up(key, str(error))
        else:
            entry.written, entry.written_at, entry.attempts = count, monotonic(), 0
            self._unwritten.discard(key)
            self._schedule(key, entry, monotonic())

    async def _send(self, entry: EventSeriesEntry) -> None:
        """Make the server's event what it should be: patched if it is there, else created."""
        if entry.written:
            with suppress(NotFound):
                return await self._patch(entry.current)
        try:
            await self._rest.create(entry.current, {})
        except AlreadyExists:
            if not entry.attempts:
                # Not the echo of an attempt of ours: another process has the same idea of now.
                await self._rename(entry)

    async def _patch(self, event: Event) -> None:
        patch = Patch(MERGE, codec.encode({"series": event.series}), idempotent=True)
        await self._rest.patch(Event, event.key, patch, query={})

    async def _rename(self, entry: EventSeriesEntry) -> None:
        stamp = self._unique(self._clock.now()) + int(self._random.uniform(1, 1000))
        name = event_name(entry.event.regarding.name, stamp)
        meta = ObjectMeta(name=name, namespace=entry.event.metadata.namespace)
        entry.event = replace(entry.event, metadata=meta)
        await self._rest.create(entry.current, {})

    def _give_up(self, key: EventKey, why: str) -> None:
        self._entries.pop(key, None)
        self._unwritten.discard(key)
        self._drop(why)

    def _drop(self, why: str) -> None:
        self._metrics.event_dropped()
        if why != self._complaint:
            self._complaint = why
            log.warning("dropped event", why=why)


def _remember(memory: dict[K, V], key: K, value: V, spare: Callable[[V], bool]) -> None:
    """Put a value last, and forget the first that can be spared when there are too many."""
    memory[key] = value
    if len(memory) > MEMORY_LIMIT:
        del memory[next(name for name, kept in memory.items() if spare(kept))]
