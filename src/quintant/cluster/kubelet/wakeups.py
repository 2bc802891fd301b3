"""Wakes the controller from outside the API: a process ended, a probe has a verdict.

Rings for one pod add up to one while nobody listens.
"""

from __future__ import annotations

import asyncio

from quintant.core.object import Request


class Wakeups:
    """Keys to look at, as an endless stream."""

    def __init__(self) -> None:
        self._pending: dict[Request, None] = {}
        self._changed = asyncio.Event()

    def wake(self, request: Request) -> None:
        """Have a pod looked at."""
        self._pending[request] = None
        self._changed.set()

    def __aiter__(self) -> Wakeups:
        return self

    async def __anext__(self) -> Request:
        while not self._pending:
            self._changed.clear()
            await self._changed.wait()
        request = next(iter(self._pending))
        del self._pending[request]
        return request
