"""ControllerContext: the components of a cluster, which can stand still and begin anew.

A restore exchanges the objects below controllers that remember some: which owners are gone, which
addresses are given away, what they wrote a moment ago. None of that holds afterwards, so they are
ended before it and made anew after it, as by a new start of the cluster. What refuses their roles
then, such as a webhook whose pod does not run yet, must not end a cluster that was at work: they
are started again until it works.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Final

from quintant.core.errors import QuintantError, leaf_errors

log: Final = logging.getLogger(__name__)

RETRY_SECONDS = 2.0
"""How soon components are started again that could not be."""

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
            self._pause.set()
            try:
                await self._ended.wait()
                yield
            finally:
                # Whoever is next waits for an end of its own.
                self._ended.clear()
                self._pause.clear()
                self._resume.set()
            await self._started.wait()

    async def _run(self) -> None:
        """Start and end them: a context is left by the task that entered it."""
        await self._live()
        while True:
            # A start that was under way when it was stopped counts for nobody.
            self._started.clear()
            self._ended.set()
            await self._resume.wait()
            self._ended.clear()
            while not self._pause.is_set() and not await self._relive():
                with suppress(TimeoutError):
                    async with asyncio.timeout(RETRY_SECONDS):
                        await self._pause.wait()

    async def _live(self) -> None:
        async with self._components():
            self._started.set()
            await self._pause.wait()

    async def _relive(self) -> bool:
        """Have them at work once more; False if they could not be started."""
        refused: BaseException | None = None
        try:
            await self._live()
        except* QuintantError as error:
            if self._started.is_set():
                raise
            refused = error
        if refused is None or self._pause.is_set():
            return True
        reasons = ", ".join(str(leaf) for leaf in leaf_errors(refused))
        log.warning("components could not be started, trying again", extra={"error": reasons})
        return False
