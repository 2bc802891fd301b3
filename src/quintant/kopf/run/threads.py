"""Handlers that are plain functions, each in a thread: in one of its own, or in a pool of the user.

A thread of its own keeps no process from ending. How many there are at once is a setting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from quintant.kopf.declare.settings import ExecutionSettings
from quintant.runtime.reconcile.blocking_calls import DaemonThreads


class HandlerThreads:
    """The threads of one operator."""

    def __init__(self, settings: ExecutionSettings) -> None:
        self._settings, self._threads = settings, DaemonThreads()
        self._slots: asyncio.Semaphore | None = None

    async def begin(self, call: Callable[[], Any]) -> asyncio.Future[Any]:
        """Have a function called, as soon as there may be one thread more."""
        executor, most = self._settings.executor, self._settings.max_workers
        if most is not None and executor is None:
            # A startup handler may set it, which is itself called before.
            self._slots = self._slots or asyncio.Semaphore(most)
            await self._slots.acquire()
        slots = self._slots
        future = asyncio.get_running_loop().run_in_executor(executor or self._threads, call)
        if slots is not None and most is not None and executor is None:
            future.add_done_callback(lambda _: slots.release())
        return future
