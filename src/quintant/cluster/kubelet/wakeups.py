"""Wakes the controller from outside the API: a process ended, a probe has a verdict.

Rings for one pod add up to one while nobody listens.
"""

from __future__ import annotations

import asyncio

from quintant.core.object import Request


class Wakeups:
    """Keys to look at, as an endless stream."""

    def __init__(self) -> None:
        self._rung: dict[Request, None] = {}
        self._stirred = asyncio.Event()

    def ring(self, request: Request) -> None:
        """Have a pod looked at."""
        self._rung[request] = None
        self._stirred.set()

    def __aiter__(self) -> Wakeups:
        return self

    async def __anext__(self) -> Request:
        while not self._rung:
            self._stirred.clear()
            await self._stirred.wait()
        request = next(iter(self._rung))
        del self._rung[request]
        return request
