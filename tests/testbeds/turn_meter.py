"""How long tasks keep the event loop: the longest turn of any, in seconds of this thread's CPU."""

from __future__ import annotations

import asyncio
import time
import types
from collections.abc import Coroutine, Generator
from typing import Any


class TurnMeter:
    """Measures every turn of the tasks that are made after it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.longest = 0.0
        loop.set_task_factory(self._task)

    def _task(
        self, loop: asyncio.AbstractEventLoop, work: Any, **options: Any
    ) -> asyncio.Task[Any]:
        return asyncio.Task(self._whole(work), loop=loop, **options)

    async def _whole(self, work: Coroutine[Any, Any, Any]) -> Any:
        return await self._turns(work)

    @types.coroutine
    def _turns(self, work: Coroutine[Any, Any, Any]) -> Generator[Any, Any, Any]:
        sent, error = None, None
        while True:
            began = time.thread_time()
            try:
                wanted = work.send(sent) if error is None else work.throw(error)
            except StopIteration as done:
                return done.value
            finally:
                self.longest = max(self.longest, time.thread_time() - began)
            try:
                sent, error = (yield wanted), None
            except BaseException as raised:
                sent, error = None, raised
