"""The timers of a stream: one ends a silence that lasts too long, one complains of waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from quintant.core.clock import monotonic
from quintant.runtime.observe.logs import get_logger

log: Final = get_logger()

# How often a stream says that its initial state is still incomplete.
NAG_SECONDS = 10.0


class SilenceTimer:
    """Ends a timeout at a moment that may move; moving it later costs nothing."""

    def __init__(self, limit: asyncio.Timeout, due: Callable[[], float]) -> None:
        self._limit, self._due = limit, due
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> SilenceTimer:
        self.reschedule()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def reschedule(self) -> None:
        """Look at the moment due now, if that is before the next look."""
        due = self._due()
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(due, self._ring)

    def _ring(self) -> None:
        now = monotonic()
        if now >= self._due():
            self._limit.reschedule(now)
        else:
            self._timer = None
            self.reschedule()


class ProgressWarning:
    """Says again and again that the initial state is still incomplete.

    `waiting` is how many objects came so far, or None when there is nothing to wait for.
    """

    def __init__(self, scope: str, waiting: Callable[[], int | None]) -> None:
        self._scope, self._waiting = scope, waiting
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> None:
        if self._waiting() is not None:
            self._timer = asyncio.get_running_loop().call_later(NAG_SECONDS, self._say)

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _say(self) -> None:
        so_far = self._waiting()
        if so_far is not None:
            log.warning("waiting for the initial state", kind=self._scope, so_far=so_far)
            self._timer = asyncio.get_running_loop().call_later(NAG_SECONDS, self._say)
