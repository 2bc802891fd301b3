"""Finds who waits in real time: `time.sleep`, a socket, a lock that nobody gives back.

In a run all time is virtual, so a process of which no thread is at work or waits for the machine is
waiting for something outside. How long it did is known afterwards; who waits for ever is
interrupted by an alarm, where the run is in the main thread.
"""

from __future__ import annotations

import signal
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from quintant.core.errors import ConfigError

# Real seconds that a run may wait: for a thread to start, or a page of a file.
MOST_SECONDS = 0.5
# Real seconds between two looks at a run that is under way.
ALARM_SECONDS = 3.0
SOON_SECONDS = 0.05


# Where the kernel says of each thread how long it was ready to run and the machine ran others.
_THREADS = Path("/proc/self/task")


class RunQueueDelay:
    """How long threads of this process have waited for the machine; 0 where nothing says so."""

    def __init__(self) -> None:
        self._before = _delays()
        self._latest = dict(self._before)

    def seconds(self) -> float:
        """The delays since the beginning of all threads, of those that have ended as last seen."""
        self._latest |= _delays()
        return sum(self._latest.values()) - sum(self._before.values())


def _delays() -> dict[str, float]:
    delays = {}
    with suppress(OSError):
        for thread in _THREADS.iterdir():
            with suppress(OSError, ValueError, IndexError):
                delays[thread.name] = int((thread / "schedstat").read_text().split()[1]) / 1e9
    return delays


class RealTimeGuard:
    """Measures how long this process has waited for something outside.

    A loop that waits for a thread of its own, which waits for the machine, waits for nothing else.
    """

    def __init__(self) -> None:
        self._delay = RunQueueDelay()
        self._began, self._worked = time.perf_counter(), time.process_time()

    def waited(self) -> float:
        """Real seconds in which there was nothing to do for the machine."""
        return self.rested() - self._delay.seconds()

    def rested(self) -> float:
        """Real seconds in which no thread was at work: it may have waited no longer."""
        passed = time.perf_counter() - self._began
        return passed - (time.process_time() - self._worked)


class WaitsInRealTime(ConfigError):
    """Something waited for what is outside: the scenario, or once in a while this machine."""


class _Interrupted(Exception):
    """What was waited for does not come."""


@contextmanager
def no_real_time(title: str, most: float = MOST_SECONDS) -> Iterator[None]:
    """WaitsInRealTime if what is done within the context waits in real time, longer than `most`."""
    guard = RealTimeGuard()
    found: list[str] = []
    try:
        with _alarm(guard, most, found):
            yield
    except _Interrupted:
        pass
    if found:
        raise _waits(title, found[0])
    if guard.rested() > most and guard.waited() > most:
        raise _waits(title, f"a run waited {guard.waited():.1f} s for something outside")


@contextmanager
def _alarm(guard: RealTimeGuard, most: float, reasons: list[str]) -> Iterator[None]:
    """Interrupt who waits for longer than anybody may."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        if guard.waited() > most:
            at = traceback.extract_stack(frame)[-1] if frame else None
            suffix = f" in {at.name} ({at.filename}, line {at.lineno})" if at else ""
            reasons.append(f"it waits for something outside{suffix}")
            # Reconciles are tried again: whatever waits from now on is interrupted soon.
            signal.setitimer(signal.ITIMER_REAL, SOON_SECONDS, SOON_SECONDS)
            raise _Interrupted(reasons[0])

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, ALARM_SECONDS, ALARM_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _waits(title: str, because: str) -> WaitsInRealTime:
    return WaitsInRealTime(
        f"{title} waits in real time",
        because=because,
        hint="await asyncio.sleep() takes no time here; what is outside is a RemoteModel",
    )
