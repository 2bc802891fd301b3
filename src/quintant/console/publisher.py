"""Gathers what changed, and publishes it a few times a second, for all viewers at once.

    watch ──change──> board.mark ──flush──> topic.publish ──> viewers wake

A board keeps one or more topics. It is marked when something of it changed, and flushed a moment
later: a hundred changes a second are five events a second, not a hundred.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, Protocol

import msgspec

from quintant.console.sources import Sources
from quintant.console.topics import Topic, encode_event
from quintant.core.clock import Clock, timestamp
from quintant.runtime.observe.logs import get_logger

FLUSH_SECONDS = 0.2
"""How long changes are gathered."""
HEARTBEAT_SECONDS = 2.0

log: Final = get_logger()


class TopicBoard(Protocol):
    """Who makes the rows of topics."""

    def flush(self) -> None:
        """Publish what changed since the last time."""


class Publisher:
    """The topics, and when they are published."""

    def __init__(self, clock: Clock, sources: Sources) -> None:
        self.clock = clock
        self.sources = sources
        self.topics: dict[str, Topic] = {}
        self.heartbeat: bytes = b""
        self.beats: int = 0
        """Counts the heartbeats."""
        self._marked: dict[TopicBoard, None] = {}
        self._work = asyncio.Event()
        self._news = asyncio.Event()
        self._periodic: list[Callable[[], None]] = []

    def add(self, topic: Topic) -> Topic:
        """Let viewers find a topic."""
        self.topics[topic.name] = topic
        return topic

    def remove(self, name: str) -> None:
        """Let a topic be found no more."""
        self.topics.pop(name, None)

    def mark(self, board: TopicBoard) -> None:
        """Have a board flushed soon."""
        self._marked[board] = None
        self._work.set()

    def every_beat(self, work: Callable[[], None]) -> None:
        """Have something done with every heartbeat."""
        self._periodic.append(work)

    def no_more_beats(self, work: Callable[[], None]) -> None:
        """Have it done no more."""
        self._periodic.remove(work)

    async def run(self) -> None:
        """Publish until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._flush())
            group.create_task(self._beat())

    async def wait(self, seconds: float) -> None:
        """Return when something was published, or after so many seconds."""
        news = self._news
        try:
            async with asyncio.timeout(seconds):
                await news.wait()
        except TimeoutError:
            return

    def flush(self) -> None:
        """Publish what every marked board has."""
        marked, self._marked = self._marked, {}
        self._work.clear()
        for board in marked:
            self._guarded(board.flush)
        self._wake()

    async def _flush(self) -> None:
        while True:
            await self._work.wait()
            await asyncio.sleep(FLUSH_SECONDS)
            self.flush()

    async def _beat(self) -> None:
        while True:
            for work in list(self._periodic):
                self._guarded(work)
            for topic in self.topics.values():
                topic.forget_snapshot()
            self.heartbeat = encode_event("heartbeat", msgspec.json.encode(self._liveness()))
            self.beats += 1
            self._wake()
            await asyncio.sleep(HEARTBEAT_SECONDS)

    def _liveness(self) -> dict[str, Any]:
        return {"now": timestamp(self.clock.now()), "sources": self.sources.states()}

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:
            # Objects are written by strangers: what one board cannot digest must not end the
            # others. Its topics stay as they were, and the next change tries again.
            log.exception("cannot publish", work=getattr(work, "__qualname__", repr(work)))

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()
