"""Time, randomness and ids, injected.

Timers are the event loop's own (`asyncio.sleep`, `asyncio.timeout`, `loop.call_at`), so a virtual
loop moves them all. What the loop cannot give, the wall clock and randomness, comes from here.
"""

from __future__ import annotations

import random
import time
from asyncio import get_running_loop
from collections.abc import Callable
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime, timedelta
from functools import partial
from typing import Protocol

# The bits of a uuid4 that say so (RFC 9562), and all the others.
UUID4 = 0x00000000_0000_4000_8000_000000000000
UUID4_FREE = 0xFFFFFFFF_FFFF_0FFF_3FFF_FFFFFFFFFFFF
MOST_AHEAD_SECONDS = 100 * 365 * 86_400.0
MOST_SPAN_SECONDS = 1000 * 365 * 86_400.0

Boottime = Callable[[], float]
"""Seconds on a clock that goes on while the machine sleeps; only differences mean anything."""
system_boottime: Boottime = partial(
    time.clock_gettime, getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
)


class Clock(Protocol):
    """Wall-clock time; durations are measured on the loop (`monotonic`)."""

    def now(self) -> datetime:
        """The time of day, in UTC."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class LoopClock:
    """A wall clock that moves exactly as the event loop does: virtual under a virtual loop."""

    epoch: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.epoch + timedelta(seconds=monotonic())


class AdvancedClock:
    """A clock that may be ahead of another one, may stand still, and never goes back."""

    def __init__(self, base: Clock) -> None:
        self._base = base
        self._ahead = timedelta()
        self._paused_at: datetime | None = None

    @property
    def ahead(self) -> float:
        """Seconds; less than none where it stood still for longer than it was advanced."""
        if self._paused_at is None:
            return self._ahead.total_seconds()
        return (self._paused_at - self._base.now()).total_seconds()

    @property
    def paused(self) -> bool:
        """Whether it stands still."""
        return self._paused_at is not None

    def now(self) -> datetime:
        return self._base.now() + self._ahead if self._paused_at is None else self._paused_at

    def advance(self, seconds: float) -> None:
        """Go on by so many seconds at once; ValueError for what is no step forward."""
        self.check(seconds)
        step = timedelta(seconds=seconds)
        if self._paused_at is None:
            self._ahead += step
        else:
            self._paused_at += step

    def pause(self) -> None:
        """Stand still from now on."""
        self._paused_at = self.now()

    def resume(self) -> None:
        """Go on from where it stood still."""
        if self._paused_at is not None:
            self._ahead = self._paused_at - self._base.now()
            self._paused_at = None

    def check(self, seconds: float) -> None:
        """ValueError for what is no step forward."""
        if not 0 < seconds <= MOST_AHEAD_SECONDS - self.ahead:
            raise ValueError("a clock goes forward only, and by a century at most")


def elapsed(clock: Clock) -> float:
    """Seconds on the running loop, and those that a clock was advanced by."""
    return monotonic() + (clock.ahead if isinstance(clock, AdvancedClock) else 0.0)


class Random(random.Random):
    """Randomness and ids from one seedable source: the standard library's, and what we add."""

    def jitter(self, seconds: float, fraction: float) -> float:
        """`seconds`, give or take a fraction of itself."""
        return seconds * self.uniform(1 - fraction, 1 + fraction)

    def id(self) -> str:
        """A fresh uuid4."""
        text = f"{self.getrandbits(128) & UUID4_FREE | UUID4:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def monotonic() -> float:
    """Seconds on the running loop; only differences mean anything."""
    return get_running_loop().time()


def seconds_of(duration: float | timedelta) -> float:
    """A duration as we count it; users may give either form."""
    return duration.total_seconds() if isinstance(duration, timedelta) else duration


def timestamp(moment: datetime) -> str:
    """RFC 3339 with seconds, as metav1.Time is written."""
    return f"{moment.astimezone(UTC).isoformat(timespec='seconds')[:-6]}Z"


def micro_timestamp(moment: datetime) -> str:
    """RFC 3339 with microseconds, as metav1.MicroTime is written."""
    return f"{moment.astimezone(UTC).isoformat(timespec='microseconds')[:-6]}Z"


def capped_timedelta(seconds: float) -> timedelta:
    """So many seconds, or a thousand years: what a spec says may lead beyond every datetime."""
    return timedelta(seconds=min(seconds, MOST_SPAN_SECONDS))


def parse_timestamp(text: str) -> datetime:
    """The moment an RFC 3339 text means."""
    return datetime.fromisoformat(text)


def find_timestamp(text: str) -> datetime | None:
    """The moment that a text of somebody else means; None if it means none to reckon with.

    Such a text is a day beside which there is another one, and says which zone it is of.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None and 1 < moment.year < MAXYEAR else None
