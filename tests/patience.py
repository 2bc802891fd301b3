"""How long tests with processes wait: seconds of a quiet machine, times how slow this one is now.

A fixed piece of work, a Python that loads a cluster, is timed: before a test if the last time is
long ago, and again whenever a deadline is reached. A test that hangs fails as soon as a machine as
busy as this one should have been done; one that is only slow goes on.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from time import monotonic

WORK = (sys.executable, "-c", "import quintant.cluster.instance.cluster")
QUIET_SECONDS = 0.5
"""What the work takes on a quiet machine of moderate speed."""
FRESH_SECONDS = 30.0
"""For how long a measurement is good enough for the next test."""
MOST = 20.0
"""Nobody waits longer than this many times: whatever is slower than that is broken."""


@dataclass
class _Machine:
    slowness: float = 1.0
    measured: float = -FRESH_SECONDS

    def measure(self) -> None:
        began = monotonic()
        subprocess.run(WORK, check=True)
        self.measured = monotonic()
        self.slowness = min(MOST, max(1.0, (self.measured - began) / QUIET_SECONDS))


_machine = _Machine()


def refresh() -> None:
    """Measure how slow the machine is, unless that is known."""
    if monotonic() - _machine.measured >= FRESH_SECONDS:
        _machine.measure()


def seconds(quiet: float) -> float:
    """How long to wait now for what takes a quiet machine at most this long."""
    return quiet * _machine.slowness


@asynccontextmanager
async def within(quiet: float) -> AsyncIterator[None]:
    """TimeoutError for what takes longer than a quiet machine would; in real time only."""
    async with asyncio.timeout(None) as limit:
        waiting = asyncio.ensure_future(_expire(limit, quiet))
        try:
            yield
        finally:
            waiting.cancel()
            with suppress(asyncio.CancelledError):
                await waiting


async def _expire(limit: asyncio.Timeout, quiet: float) -> None:
    """Let a limit expire when its time has come, judged by the machine as it is then."""
    began = monotonic()
    while (left := began + seconds(quiet) - monotonic()) > 0:
        await asyncio.sleep(left)
        await asyncio.to_thread(_machine.measure)
    limit.reschedule(asyncio.get_running_loop().time())
