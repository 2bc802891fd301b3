"""Counts the consistent reads of one reflector, for who waits for one that begins from now on."""

from __future__ import annotations

import asyncio


class ConsistentReads:
    """Reads of the whole state at the server's newest version: begun, and complete."""

    def __init__(self) -> None:
        self.begun: int = 0
        self.done: int = 0
        """The newest of them whose state the sink has."""
        self.demanded: bool = False
        """Whether another one is to begin as soon as that can be."""
        self._current = 0
        self._moved = asyncio.Event()

    def begin(self, *, consistent: bool) -> None:
        """The state is read now, or followed."""
        self._current = 0
        if consistent:
            self.begun += 1
            self._current = self.begun

    def finish(self) -> None:
        """The sink has what was read."""
        self.done = max(self.done, self._current)
        self.moved()

    def take_demand(self) -> bool:
        """Whether one was demanded; it begins now."""
        demanded, self.demanded = self.demanded, False
        return demanded

    def moved(self) -> None:
        """Let those look again who wait."""
        self._moved.set()
        self._moved = asyncio.Event()

    async def wait(self) -> None:
        """Return when something has happened."""
        await self._moved.wait()
