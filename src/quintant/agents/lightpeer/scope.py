"""Work that outlives its caller but not its owner.

A caller may give up in the middle of a write to the disk; the write must not. `finish` completes
what was begun even if the caller is cancelled, `start` and `begin` begin something, and `close`
ends it all.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

T = TypeVar("T")

log: Final = logging.getLogger("lightpeer")


class Scope:
    """Owns tasks."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    async def finish(self, work: Coroutine[Any, Any, T]) -> T:
        """The outcome of some work, which continues if this call is cancelled."""
        return await asyncio.shield(self.begin(work))

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin some work that no caller waits for; if it fails, the log says so."""
        task = self.begin(work)
        task.add_done_callback(_report)
        return task

    async def close(self) -> None:
        """Cancel everything, and wait for its end."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin some work that the caller waits for, or gives up."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # Fetched, so that nothing is said twice: its awaiter gets it.


def _report(task: asyncio.Task[Any]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("failed in the background: %s: %s", type(error).__name__, error)
