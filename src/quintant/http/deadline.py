"""When the task of a connection is late, whatever it waits for.

Like `asyncio.timeout`, but moving the end costs nothing: one timer per connection is left where it
is while the end moves away from it, and set again when it rings too early. A connection waits for
something three times per request.
"""

from __future__ import annotations

import asyncio
from math import inf
from types import TracebackType


class Deadline:
    """The end of one wait at a time: `with deadline.within(5): …` raises TimeoutError."""

    __slots__ = ("_armed", "_at", "_before", "_late", "_loop", "_task", "_timer")

    def __init__(self, task: asyncio.Task[None]) -> None:
        self._loop, self._task = task.get_loop(), task
        self._at = self._armed = inf
        self._timer: asyncio.TimerHandle | None = None
        self._late = False
        self._before = 0
        """How often the task was cancelled before this wait."""

    def within(self, seconds: float) -> Deadline:
        """What is done in this context may take so long."""
        self._before = self._task.cancelling()
        self.move(seconds)
        return self

    def move(self, seconds: float) -> None:
        """The wait may take so long from now on."""
        self._at = self._loop.time() + seconds
        if self._at < self._armed:
            self._arm()

    def stop(self) -> None:
        """The connection is over."""
        if self._timer is not None:
            self._timer.cancel()

    def __enter__(self) -> Deadline:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._at = inf
        if self._late:
            self._late = False
            # Another canceller of the task meant it.
            if self._task.uncancel() <= self._before and kind is asyncio.CancelledError:
                raise TimeoutError from error

    def _arm(self) -> None:
        self.stop()
        self._armed = self._at
        self._timer = self._loop.call_at(self._at, self._ring)

    def _ring(self) -> None:
        self._armed = inf
        if self._loop.time() < self._at < inf:
            self._arm()
        elif self._at < inf:
            self._at, self._late = inf, True
            self._task.cancel()
