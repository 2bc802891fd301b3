"""An event loop whose time runs many times as fast as the machine's, and the wall clock to it.

Everything in the process that waits, the embedded cluster above all, waits as much shorter. The
programs under test see the same two clocks (`foreign.pace`): both count from the same moments.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from msgspec import Struct


class PaceOrigin(Struct, frozen=True):
    """From when time runs so fast: seconds of the machine's clocks."""

    pace: float
    realtime: float
    monotonic: float

    @classmethod
    def now(cls, pace: float) -> PaceOrigin:
        return cls(pace, time.time(), time.monotonic())


class PacedLoop(asyncio.SelectorEventLoop):
    """A loop that is so many times as fast."""

    def __init__(self, origin: PaceOrigin) -> None:
        self._origin = origin
        super().__init__(_PacedSelector(origin.pace))

    def time(self) -> float:
        """Seconds, faster."""
        origin = self._origin
        return origin.monotonic + (time.monotonic() - origin.monotonic) * origin.pace


class _PacedSelector(selectors.DefaultSelector):
    def __init__(self, pace: float) -> None:
        super().__init__()
        self._pace = pace

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(None if timeout is None else timeout / self._pace)


@dataclass(frozen=True, slots=True)
class PacedClock:
    """The wall clock of a paced loop."""

    origin: PaceOrigin

    def now(self) -> datetime:
        origin = self.origin
        passed = (time.time() - origin.realtime) * origin.pace
        return datetime.fromtimestamp(origin.realtime, UTC) + timedelta(seconds=passed)
