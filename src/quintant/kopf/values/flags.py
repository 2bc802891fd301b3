"""The flag that tells a daemon to end: seen by a thread and by a coroutine in the same way."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from enum import Flag, auto
from typing import Final


class DaemonStoppingReason(Flag):
    """Why a daemon is to end; reasons add up."""

    DONE = auto()
    FILTERS_MISMATCH = auto()
    RESOURCE_DELETED = auto()
    OPERATOR_PAUSING = auto()
    OPERATOR_EXITING = auto()
    DAEMON_SIGNALLED = auto()
    DAEMON_CANCELLED = auto()
    DAEMON_ABANDONED = auto()


class StopFlag:
    """The flag itself, as its setter has it."""

    def __init__(self) -> None:
        self.reason: DaemonStoppingReason | None = None
        self.for_threads: Final = threading.Event()
        self.for_tasks: Final = asyncio.Event()

    def set(self, reason: DaemonStoppingReason) -> None:
        """Have it end, for one more reason."""
        self.reason = reason if self.reason is None else self.reason | reason
        self.for_threads.set()
        self.for_tasks.set()

    def is_set(self) -> bool:
        return self.for_threads.is_set()

    async def sleep(self, seconds: float) -> None:
        """Wait, but no longer than until the flag is set."""
        if seconds <= 0 or self.is_set():
            await asyncio.sleep(0)
            return
        waiting = asyncio.ensure_future(self.for_tasks.wait())
        try:
            await asyncio.wait({waiting}, timeout=seconds)
        finally:
            waiting.cancel()


class DaemonStopped:
    """The flag, as a daemon has it: true once it is to end."""

    def __init__(self, flag: StopFlag) -> None:
        self._flag = flag

    def __bool__(self) -> bool:
        return self._flag.is_set()

    def is_set(self) -> bool:
        return self._flag.is_set()

    @property
    def reason(self) -> DaemonStoppingReason | None:
        return self._flag.reason

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.is_set()}, reason={self.reason}>"


class SyncDaemonStopped(DaemonStopped):
    """For a daemon in a thread: `stopped.wait(10)`."""

    def wait(self, timeout: float | None = None) -> SyncDaemonStopped:
        """Wait for the flag, so many seconds at most; what is returned is true if it is set."""
        self._flag.for_threads.wait(timeout)
        return self


class AsyncDaemonStopped(DaemonStopped):
    """For a coroutine: `await stopped.wait(10)`."""

    def wait(self, timeout: float | None = None) -> StoppedWithin:
        """Something to await: for the flag, so many seconds at most."""
        return StoppedWithin(self, self._flag, timeout)


class StoppedWithin:
    """A wait for the flag that may be awaited, and gives the flag."""

    def __init__(self, given: AsyncDaemonStopped, flag: StopFlag, timeout: float | None) -> None:
        self._given, self._flag, self._timeout = given, flag, timeout

    def __bool__(self) -> bool:
        return bool(self._given)

    def __await__(self) -> Generator[None, None, AsyncDaemonStopped]:
        if self._timeout is None:
            yield from self._flag.for_tasks.wait().__await__()
        else:
            yield from self._flag.sleep(self._timeout).__await__()
        return self._given
