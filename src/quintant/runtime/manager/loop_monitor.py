"""A thread that looks at the event loop from outside: a blocked loop cannot speak for itself.

The loop beats (`watchdog`); the thread wakes as often and sees whether it did. If not, it looks
which task runs, and where. After five seconds it says so, with the stack: what blocked is known
even if the process is killed for it. It counts its own wake-ups instead of time, so that a process
that was stopped, or a machine that sleeps, is not taken for a blocked loop.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from quintant.runtime.observe.logs import get_logger

# As often as the loop beats.
TICK_SECONDS = 0.25
# Wake-ups without a beat from which on the loop is looked at: one may fall between two beats.
LATE_TICKS = 2
# A block of this length is reported while it lasts; then again after ten times as long.
BLOCKED_SECONDS = 5.0
REPORT_FACTOR = 10

Name = Callable[[asyncio.Task[Any]], str]
"""What a task does, in words; empty if that is not known."""

log = get_logger()


class BlockedSample(Struct, frozen=True):
    """What ran while the loop did not beat."""

    running: str
    stack: str


class LoopMonitor:
    """Watches one loop from a thread of its own while `watch` lasts."""

    def __init__(self, name: Name) -> None:
        self._name = name
        self._beats = 0
        self._sample: BlockedSample | None = None

    def beat(self) -> BlockedSample | None:
        """The loop runs; what held it up before, if anything was seen to."""
        self._beats += 1
        sample, self._sample = self._sample, None
        return sample

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Watch the loop that runs here."""
        ended, loop = threading.Event(), asyncio.get_running_loop()
        work = threading.Thread(
            target=self._run,
            args=(loop, threading.get_ident(), ended),
            name="quintant-loop-monitor",
            daemon=True,
        )
        work.start()
        try:
            yield
        finally:
            ended.set()

    def _run(self, loop: asyncio.AbstractEventLoop, thread: int, ended: threading.Event) -> None:
        beats, late, due = -1, 0, BLOCKED_SECONDS
        while not ended.wait(TICK_SECONDS):
            if beats != self._beats:
                beats, late, due = self._beats, 0, BLOCKED_SECONDS
                continue
            late += 1
            if late < LATE_TICKS:
                continue
            sample = BlockedSample(self._running(loop), thread_stack(thread))
            if beats == self._beats:
                self._sample = sample
            if late * TICK_SECONDS >= due:
                due *= REPORT_FACTOR
                _report(late * TICK_SECONDS, sample)

    def _running(self, loop: asyncio.AbstractEventLoop) -> str:
        task = asyncio.current_task(loop)
        if task is None:
            return ""
        return self._name(task) or f"task {task.get_name()}"


class SchedulerWait:
    """How long this thread was ready to run and the machine ran others, since it was last asked.

    0 where the kernel does not say.
    """

    def __init__(self) -> None:
        self._path: Path | None = None
        self._before = 0.0

    def __call__(self) -> float:
        if self._path is None:
            self._path = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
            self._before = self._read(self._path)
            return 0.0
        before, self._before = self._before, self._read(self._path)
        return self._before - before

    def _read(self, path: Path) -> float:
        with suppress(OSError, ValueError, IndexError):
            return int(path.read_text().split()[1]) / 1e9
        return 0.0


def thread_stack(thread: int) -> str:
    """Where a thread is now, innermost last; empty if it has ended."""
    frame = sys._current_frames().get(thread)
    return "".join(traceback.format_stack(frame)) if frame is not None else ""


def _report(seconds: float, sample: BlockedSample) -> None:
    log.error(
        "event loop is blocked",
        seconds=round(seconds, 1),
        running=sample.running or "no task",
        stack=sample.stack,
        hint="call what blocks with ctx.in_thread(...)",
    )
