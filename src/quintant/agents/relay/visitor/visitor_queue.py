"""Where visitors wait when no stream is free for them: bounded in number and in time.

Whoever leaves lets the first of an app's waiters look again; and each looks by itself now and then,
since what is free for one address may not be for another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

WAITING = 1024
"""Visitors of all apps that wait; each is a connection that is open anyway."""
WAIT_SECONDS = 5.0
"""Longer than the answers of most Services take, and shorter than people wait."""
LOOK_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """How many may wait, and how long."""

    most: int = WAITING
    seconds: float = WAIT_SECONDS


class VisitorQueue:
    """Who waits, by app, in the order in which they came."""

    def __init__(self, limits: QueueLimits) -> None:
        self._limits = limits
        self._waiting: dict[str, dict[_Waiter, None]] = {}
        self.size: int = 0
        """How many wait now."""

    async def admitted(self, app: str, fits: Callable[[], bool]) -> bool:
        """Wait until it fits; False if it does not in time, or too many wait already."""
        if fits():
            return True
        if self.size >= self._limits.most:
            return False
        waiter = _Waiter()
        self._waiting.setdefault(app, {})[waiter] = None
        self.size += 1
        try:
            async with asyncio.timeout(self._limits.seconds):
                while not fits():
                    await waiter.wait()
        except TimeoutError:
            return False
        finally:
            self.size -= 1
            self._forget(app, waiter)
        return True

    def left(self, app: str) -> None:
        """A visitor is done: the first who waits, and does not look already, looks again."""
        for waiter in self._waiting.get(app, ()):
            if waiter.wake():
                return

    def _forget(self, app: str, waiter: _Waiter) -> None:
        line = self._waiting[app]
        del line[waiter]
        if not line:
            del self._waiting[app]


class _Waiter:
    """A visitor who waits."""

    def __init__(self) -> None:
        self._turn: asyncio.Future[None] | None = None

    async def wait(self) -> None:
        """Until it is to look again."""
        self._turn = asyncio.get_running_loop().create_future()
        await asyncio.wait((self._turn,), timeout=LOOK_SECONDS)
        self._turn = None

    def wake(self) -> bool:
        """Let it look; whether it was waiting for that."""
        if self._turn is None or self._turn.done():
            return False
        self._turn.set_result(None)
        return True
