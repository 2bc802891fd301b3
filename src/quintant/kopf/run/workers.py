"""The objects of one resource at work: one round at a time for each, with the newest of its states.

What comes while a round is under way waits, and only its newest counts. A round that fails is tried
again, ever more rarely; it keeps no other object waiting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from quintant.core.clock import monotonic
from quintant.core.errors import QuintantError
from quintant.kopf.run.memories import Memories
from quintant.kopf.run.round_values import DELETED, RoundInput, RoundResult
from quintant.kopf.run.rounds import Rounds
from quintant.kopf.run.watching import RawObject
from quintant.kopf.values.fields import resolve
from quintant.runtime.observe.logs import get_logger

log: Final = get_logger()


@dataclass(slots=True)
class _Slot:
    """One object that is worked on, or waits for its time."""

    type: str | None
    raw: RawObject
    fresh: bool = True
    expected: str = ""
    """The version that we wrote, until it has come."""
    until: float = 0.0
    """When it is no longer waited for."""
    news: asyncio.Event = field(default_factory=asyncio.Event)


class Workers:
    """Those of one resource."""

    def __init__(
        self,
        rounds: Rounds,
        memories: Memories,
        group: asyncio.TaskGroup,
        indexed: asyncio.Event,
        *,
        consistency: float,
        limit: int | None = None,
        error_delays: tuple[float, ...] = (1.0,),
        first_indexed: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._rounds, self._memories, self._group = rounds, memories, group
        self._indexed, self._first_indexed = indexed, first_indexed
        self._consistency, self._error_delays = consistency, error_delays or (1.0,)
        self._slots: dict[str, _Slot] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._limit = asyncio.Semaphore(limit) if limit else None
        self._closed = False

    def report(self, type: str | None, raw: RawObject) -> None:
        """Look at an object, now in this state."""
        if self._closed:
            return
        uid = uid_of(raw)
        slot = self._slots.get(uid)
        if slot is None:
            slot = self._slots[uid] = _Slot(type, raw)
            task = self._group.create_task(self._work(uid, slot))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            slot.type, slot.raw, slot.fresh = type, raw, True
        if slot.expected and resolve(raw, ("metadata", "resourceVersion")) == slot.expected:
            slot.expected = ""
        slot.news.set()

    def wake(self, uid: str) -> None:
        """Look at an object again, in the state in which it is."""
        memory = self._memories.find(uid)
        if (slot := self._slots.get(uid)) is not None:
            slot.news.set()
        elif memory is not None and isinstance(raw := memory.body.raw, dict) and raw:
            if self._closed:
                return
            self.report("MODIFIED", raw)
            self._slots[uid].fresh = False

    async def stop(self) -> None:
        """End all rounds; none begins any more."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._slots.clear()

    async def _work(self, uid: str, slot: _Slot) -> None:
        """Rounds until there is nothing to wait for."""
        delay: float | None = 0.0
        try:
            while delay is not None or slot.news.is_set():
                await _wait(slot, delay)
                slot.news.clear()
                if self._limit is None:
                    delay = await self._round(uid, slot)
                else:
                    async with self._limit:
                        delay = await self._round(uid, slot)
        finally:
            if self._slots.get(uid) is slot:
                del self._slots[uid]
                self._memories.rest(uid)

    async def _round(self, uid: str, slot: _Slot) -> float | None:
        """One round; seconds until the next, or None."""
        type, fresh, slot.fresh = slot.type, slot.fresh, False
        memory = self._memories.recall(uid, slot.raw, listed=type is None)
        consistent = not slot.expected or monotonic() >= slot.until or type == DELETED
        if consistent:
            slot.expected = ""
        elif not fresh:
            return max(0.0, slot.until - monotonic())  # the object is not what is known of it
        seen = RoundInput(type, slot.raw, memory, fresh, consistent)
        try:
            if fresh:
                await self._rounds.index(seen, uid)
            self._first_indexed(uid)
            await self._indexed.wait()
            ended = await self._rounds.run(seen, lambda: self.wake(uid))
        except asyncio.CancelledError:
            raise
        except Exception as error:  # a refusal of the server, or a filter's defect: this object's
            return self._failed(memory.failures, uid, error, slot)
        memory.failures = 0
        if type == DELETED:
            self._memories.forget(uid)
            return None
        return self._next(slot, ended, consistent)

    def _next(self, slot: _Slot, ended: RoundResult, consistent: bool) -> float | None:
        if ended.version:
            there = resolve(slot.raw, ("metadata", "resourceVersion"))
            slot.expected = "" if there == ended.version else ended.version
            slot.until = monotonic() + self._consistency
        if slot.expected:
            # What is due comes once that has come, or has not for too long.
            return max(0.0, slot.until - monotonic())
        return ended.delay

    def _failed(self, failures: int, uid: str, error: Exception, slot: _Slot) -> float:
        memory = self._memories.find(uid)
        if memory is not None:
            memory.failures = failures + 1
        delay = self._error_delays[min(failures, len(self._error_delays) - 1)]
        known = isinstance(error, QuintantError)
        log.warning(
            "round failed", object=resolve(slot.raw, ("metadata", "name")), why=str(error),
            again=delay, exc_info=None if known else error,
        )  # fmt: skip
        return delay


async def _wait(slot: _Slot, delay: float | None) -> None:
    """Wait for so many seconds, but no longer than for news."""
    if slot.news.is_set() or delay is None or delay <= 0:
        return
    news = asyncio.ensure_future(slot.news.wait())
    try:
        await asyncio.wait({news}, timeout=delay)
    finally:
        news.cancel()


def uid_of(raw: RawObject) -> str:
    """What tells an object from all others."""
    meta = raw["metadata"]
    return str(meta.get("uid") or f"{meta.get('namespace', '')}/{meta['name']}")
