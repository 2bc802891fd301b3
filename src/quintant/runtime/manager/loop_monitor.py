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
from typing import Any, Final

from msgspec import Struct

from quintant.runtime.controller.blocking_keys import BLOCKED_SECONDS, RunningReconcile
from quintant.runtime.observe.logs import get_logger

# As often as the loop beats.
TICK_SECONDS = 0.25
# Wake-ups without a beat from which on the loop is looked at: one may fall between two beats.
LATE_TICKS = 2
# A block of BLOCKED_SECONDS is reported while it lasts; then again after ten times as long.
REPORT_FACTOR = 10

ReconcileOf = Callable[[asyncio.Task[Any]], RunningReconcile | None]
"""The reconcile that a task runs; None if it runs none."""

log: Final = get_logger()


class BlockedSample(Struct, frozen=True):
    """What ran while the loop did not beat."""

    running: str
    stack: str
    reconcile: RunningReconcile | None = None
    seconds: float = 0.0
    """For how long this and nothing else was observed to run."""


class LoopMonitor:
    """Watches one loop from a thread of its own while `watch` lasts."""

    def __init__(self, reconcile_of: ReconcileOf) -> None:
        self._reconcile_of = reconcile_of
        self._beats, self._last_beats, self._late = 0, -1, 0
        self._due = BLOCKED_SECONDS
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

    def tick(self, loop: asyncio.AbstractEventLoop, thread: int) -> None:
        """Look at the loop that runs in a thread; called every `TICK_SECONDS`."""
        beats = self._beats
        if beats != self._last_beats:
            self._last_beats, self._late, self._due = beats, 0, BLOCKED_SECONDS
            return
        self._late += 1
        if self._late < LATE_TICKS:
            return
        sample = self._look(loop, thread)
        if beats == self._beats:
            self._sample = sample
        if self._late * TICK_SECONDS >= self._due:
            self._due *= REPORT_FACTOR
            _report(self._late * TICK_SECONDS, sample)

    def _run(self, loop: asyncio.AbstractEventLoop, thread: int, ended: threading.Event) -> None:
        while not ended.wait(TICK_SECONDS):
            self.tick(loop, thread)

    def _look(self, loop: asyncio.AbstractEventLoop, thread: int) -> BlockedSample:
        task, before = asyncio.current_task(loop), self._sample
        reconcile = self._reconcile_of(task) if task is not None else None
        running = str(reconcile) if reconcile else f"task {task.get_name()}" if task else ""
        if before is not None and before.running == running:
            seconds = before.seconds + TICK_SECONDS
        else:
            seconds = self._late * TICK_SECONDS if before is None else 0.0
        return BlockedSample(running, thread_stack(thread), reconcile, seconds)


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
