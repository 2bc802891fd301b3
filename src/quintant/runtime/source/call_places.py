"""So many at once, where how many may change meanwhile: a semaphore that can be resized."""

from __future__ import annotations

import asyncio
from collections import deque


class CallPlaces:
    """An async context manager that so many may be in; the others wait in the order they came."""

    def __init__(self, most: int) -> None:
        self._most, self._taken = most, 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def resize(self, most: int) -> None:
        """Let so many in from now on; whoever is in already stays."""
        self._most = most
        self._admit()

    async def __aenter__(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._leave()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._leave()

    def _leave(self) -> None:
        self._taken -= 1
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self._taken < self._most:
            turn = self._waiting.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)
