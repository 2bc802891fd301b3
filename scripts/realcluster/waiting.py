"""Waiting for a cluster, with a line of progress whenever that takes longer than a moment."""

import time
from collections.abc import Callable

from foreign.errors import ProgramError, Report

START_SECONDS = 600.0
"""Long: whatever ends by itself is seen at once, and a machine may be busy."""
PROGRESS_SECONDS = 2.0
_POLL_SECONDS = 0.05
_REST = 2.0
"""After each look, so many times as long as it took: looking must not slow what is looked at."""


def wait(ready: Callable[[], bool], what: str, report: Report, check: Callable[[], None]) -> None:
    """Return when something is ready, with progress; `check` raises if it never will be."""
    started = reported = looked = time.monotonic()
    while not ready():
        check()
        now = time.monotonic()
        if now - started >= START_SECONDS:
            raise ProgramError(
                f"cannot start {what}",
                why=f"it is not ready after {START_SECONDS:.0f} s",
                hint="read the logs of its programs, in real-cluster/logs of the cache",
            )
        if now - reported >= PROGRESS_SECONDS:
            report(f"waiting for {what}: {now - started:.0f} s")
            reported = now
        time.sleep(max(_POLL_SECONDS, _REST * (now - looked)))
        looked = time.monotonic()
