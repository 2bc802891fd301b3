"""ControllerContext: the components of a cluster, which can stand still and begin anew.

A restore exchanges the objects below controllers that remember some: which owners are gone, which
addresses are given away, what they wrote a moment ago. None of that holds afterwards, so they are
ended before it and made anew after it, as by a new start of the cluster.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

Components = Callable[[], AbstractAsyncContextManager[None]]
"""Makes and starts all components; they end with the context."""


class ControlPlane:
    """Components at work, unless `stopped`."""

    def __init__(self, components: Components) -> None:
        self._components = components
        self._started, self._ended = asyncio.Event(), asyncio.Event()
        self._pause, self._resume = asyncio.Event(), asyncio.Event()
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Have them at work for as long as the context lasts; enter it once they are."""
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self._run())
            try:
                await self._started.wait()
                yield
            finally:
                task.cancel()

    @asynccontextmanager
    async def stopped(self) -> AsyncIterator[None]:
        """No component runs while the context lasts; all do, made anew, once it is left."""
        async with self._turn:
            self._resume.clear()
            self._started.clear()
            self._pause.set()
            try:
                await self._ended.wait()
                yield
            finally:
                self._pause.clear()
                self._resume.set()
            await self._started.wait()

    async def _run(self) -> None:
        """Start and end them: a context is left by the task that entered it."""
        while True:
            self._ended.clear()
            async with self._components():
                self._started.set()
                await self._pause.wait()
            self._ended.set()
            await self._resume.wait()
