"""The work queue of one controller: every key has one slot, and one worker at a time.

Watches and timers `add` keys; workers `get` a lease on a key and say `done`. Adding a key that is
already in merges: the higher priority and the earlier time win.

    absent ──add──▶ ready ──get──▶ processing ──done──▶ absent
    absent ──add(after)──▶ waiting ──due──▶ ready
    processing ──add──▶ dirty ──done──▶ ready, or waiting if that add was for later

Invariant: a key is never with two workers, and whoever adds it sees it handed out afterwards.
Only `get` and `drain` await, so no state is ever seen half changed.
"""

from __future__ import annotations

import asyncio
import itertools
import math
from asyncio import get_running_loop
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, Protocol, TypeVar

from quintant.core.clock import monotonic
from quintant.runtime.workqueue.slots import LEASED, Slot, Slots, SlotState

# Work nobody waits for (first list, resync, ticks): live changes overtake it.
LOW_PRIORITY = -100

T = TypeVar("T", bound=Hashable)


class WorkItem(NamedTuple, Generic[T]):
    """A key handed to a worker, with the priority it had; give it back with `done(key)`."""

    key: T
    priority: int


class QueueObserver(Protocol):
    """Hears what a queue does, for metrics."""

    def added(self) -> None:
        """A key became ready."""

    def retried(self) -> None:
        """A key was added for later."""

    def queued(self, seconds: float) -> None:
        """A key was handed out after so long in ready."""

    def worked(self, seconds: float) -> None:
        """A key was given back after so long with a worker."""


class Workqueue(Generic[T]):
    """Keys to work on: by priority, then first come, first served."""

    def __init__(
        self,
        observer: QueueObserver | None = None,
        rank: Callable[[T, int], int] | None = None,
    ) -> None:
        """`rank` gives a key another priority than the one it is added with."""
        tickets = itertools.count()
        self._rank = rank
        self._observer = observer or _Silence()
        self._slots: dict[T, Slot[T]] = {}
        self._ready: Slots[T] = Slots(tickets)
        self._waiting: Slots[T] = Slots(tickets)
        self._timer: asyncio.TimerHandle | None = None
        self._alarm = math.inf
        self._getters: list[asyncio.Future[None]] = []
        self._leases = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._closed = False

    def add(self, key: T, *, after: float = 0.0, priority: int = 0, ranked: bool = False) -> None:
        """Have `key` worked on `after` seconds from now; ignored once shut down.

        A priority that is `ranked` is one that the key had before, and stays as it is.
        """
        if self._closed:
            return
        if self._rank is not None and not ranked:
            priority = self._rank(key, priority)
        if after > 0:
            self._observer.retried()
        now = get_running_loop().time()
        if now >= self._alarm:
            self._promote(now)
        slot = self._slots.get(key)
        if slot is None:
            slot = self._slots[key] = Slot(key, priority, now + after)
            self._enter(slot, now)
        elif slot.state is SlotState.PROCESSING:
            slot.state, slot.priority, slot.due = SlotState.DIRTY, priority, now + after
        else:
            self._merge(slot, priority, now + after, now)

    async def get(self) -> WorkItem[T] | None:
        """Wait for a key and take it; None once the queue is shut down."""
        while not self._closed:
            now = get_running_loop().time()
            if now >= self._alarm:
                self._promote(now)
            if slot := self._ready.pop():
                return self._lease(slot, now)
            await self._turn()
        return None

    def done(self, key: T) -> None:
        """Give a lease back; a key that was added meanwhile is in the queue again."""
        slot = self._slots.get(key)
        if slot is None or slot.state not in LEASED:
            raise ValueError(f"{key} was given back without a lease")
        now = get_running_loop().time()
        if now >= self._alarm:
            self._promote(now)
        self._observer.worked(now - slot.since)
        self._leases -= 1
        if not self._leases:
            self._idle.set()
        if slot.state is SlotState.DIRTY:
            self._enter(slot, now)
        else:
            del self._slots[key]

    def shut_down(self) -> None:
        """Drop every key that is not leased, and send all workers home with None."""
        self._closed = True
        self._slots = {key: slot for key, slot in self._slots.items() if slot.state in LEASED}
        for slot in self._slots.values():
            slot.state = SlotState.PROCESSING
        self._ready.clear()
        self._waiting.clear()
        self._arm()
        for _ in self._getters:
            self._wake()

    async def drain(self) -> None:
        """Wait until every lease has been given back; bound it with `asyncio.timeout`."""
        await self._idle.wait()

    def __len__(self) -> int:
        """How many keys are ready."""
        return sum(self.depths().values())

    def waiting_count(self) -> int:
        """How many keys wait for their time."""
        return sum(slot.state is SlotState.WAITING for slot in self._slots.values())

    def keys(self) -> list[T]:
        """Every key that is in, whatever it waits for."""
        return list(self._slots)

    def due(self) -> dict[T, float]:
        """When each key that waits for its time is due, on the loop's clock."""
        slots = self._slots.values()
        return {slot.key: slot.due for slot in slots if slot.state is SlotState.WAITING}

    def processing_count(self) -> int:
        """How many keys are with workers."""
        return self._leases

    def depths(self) -> dict[int, int]:
        """How many keys are ready, by priority."""
        slots = self._slots.values()
        return dict(Counter(slot.priority for slot in slots if slot.state is SlotState.READY))

    def depth(self, priority: int) -> int:
        """How many keys are ready at one priority."""
        return self.depths().get(priority, 0)

    def unfinished_seconds(self) -> float:
        """How long the present leases have been held, all together."""
        return sum(self._held())

    def longest_running_seconds(self) -> float:
        """How long the oldest of the present leases has been held."""
        return max(self._held(), default=0.0)

    def _held(self) -> list[float]:
        now = monotonic()
        return [now - slot.since for slot in self._slots.values() if slot.state in LEASED]

    def _merge(self, slot: Slot[T], priority: int, due: float, now: float) -> None:
        higher, earlier = priority > slot.priority, due < slot.due
        slot.priority, slot.due = max(priority, slot.priority), min(due, slot.due)
        if slot.state is SlotState.WAITING and earlier:
            self._enter(slot, now)
            self._arm()
        elif slot.state is SlotState.READY and higher:
            self._ready.push(-slot.priority, slot)

    def _enter(self, slot: Slot[T], now: float) -> None:
        """Put a slot where its time says, behind all who came before."""
        if slot.due > now:
            slot.state = SlotState.WAITING
            self._waiting.push(slot.due, slot)
            self._arm()
            return
        slot.state, slot.since = SlotState.READY, now
        self._ready.push(-slot.priority, slot)
        self._observer.added()
        self._wake()

    def _lease(self, slot: Slot[T], now: float) -> WorkItem[T]:
        # Never negative, although a timer may ring a moment early.
        waited = now - slot.since
        self._observer.queued(waited if waited > 0.0 else 0.0)
        slot.state, slot.since = SlotState.PROCESSING, now
        if not self._leases:
            self._idle.clear()
        self._leases += 1
        return WorkItem(slot.key, slot.priority)

    def _promote(self, now: float) -> None:
        """Make ready, in the order of their times, all whose time has come, timer or not."""
        while (slot := self._waiting.head()) and slot.due <= now:
            self._enter(slot, now)
        self._arm()

    def _arm(self) -> None:
        """Keep one timer, for the head of the waiting line; `_alarm` is its time."""
        head = self._waiting.head()
        due = head.due if head else math.inf
        if due == self._alarm:
            return
        if self._timer:
            self._timer.cancel()
        loop = get_running_loop()
        self._timer = loop.call_at(due, self._ring) if head else None
        self._alarm = due

    def _ring(self) -> None:
        # Loops that round to milliseconds ring early; asking again at once would only spin.
        now = max(self._alarm, monotonic())
        self._timer, self._alarm = None, math.inf
        self._promote(now)

    async def _turn(self) -> None:
        turn = get_running_loop().create_future()
        self._getters.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            # Our turn may have come already; the key must not wait for a worker that has left.
            self._wake()
            raise
        finally:
            self._getters.remove(turn)

    def _wake(self) -> None:
        for turn in self._getters:
            if not turn.done():
                turn.set_result(None)
                return


class _Silence:
    """The observer that keeps nothing."""

    def added(self) -> None: ...

    def retried(self) -> None: ...

    def queued(self, seconds: float) -> None: ...

    def worked(self, seconds: float) -> None: ...
