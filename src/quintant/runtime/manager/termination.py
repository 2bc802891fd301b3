"""Ending a process that was asked to end and cannot: its event loop is blocked, or does not stop.

A signal wakes the loop by a byte on a socket. Here a thread stands between: it passes each byte on,
and then sees to it that the process ends. As long as the loop answers, it stops in order and has
the time it needs. If it does not answer, it is given ten seconds, or its grace if that is less: a
kubelet kills after 30 s, and then it would not be known where it was blocked. A second signal means
at once.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from quintant.runtime.manager.loop_monitor import thread_stack
from quintant.runtime.observe.logs import get_logger

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
# How long a loop may stay silent after it was asked to stop, at most.
SILENT_SECONDS = 10.0
# After a second signal: silence means that it is blocked, and even a loop that answers must end.
SILENT_AT_ONCE_SECONDS = 0.5
AT_ONCE_SECONDS = 5.0
# How often the loop is asked to answer once a signal has come.
TICK_SECONDS = 0.1
# What the last line of the log may take: its reader may have stopped.
LAST_LINE_SECONDS = 1.0
FAILED = 1

log: Final = get_logger()


@contextmanager
def ensured_termination(grace: float) -> Iterator[None]:
    """See to it that a stop signal ends this process; the loop's own handlers are set by now."""
    ours, wakeup = socket.socketpair()
    wakeup.setblocking(False)
    before = signal.set_wakeup_fd(wakeup.fileno(), warn_on_full_buffer=False)
    work = _Terminator(asyncio.get_running_loop(), min(grace, SILENT_SECONDS), ours, before)
    threading.Thread(target=work.run, name="quintant-signals", daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        wakeup.close()


class _Terminator:
    """What the thread does."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, patience: float, source: socket.socket, target: int
    ) -> None:
        self._loop, self._patience = loop, patience
        self._source, self._target = source, target
        self._thread = threading.get_ident()
        self._signals: list[float] = []
        self._answered = 0.0

    def run(self) -> None:
        """Pass signals on until the other end is closed."""
        with self._source:
            while True:
                ready, _, _ = select.select(
                    [self._source], [], [], TICK_SECONDS if self._signals else None
                )
                if ready and not self._pass_on():
                    return
                if self._signals:
                    self._insist()

    def _pass_on(self) -> bool:
        numbers = self._source.recv(64)
        if self._target >= 0:
            with suppress(OSError):  # the loop was closed, or its buffer is full of wake-ups
                os.write(self._target, numbers)
        for _ in (number for number in numbers if number in STOP_SIGNALS):
            self._signals.append(time.monotonic())
            if len(self._signals) == 1:
                self._answered = self._signals[0]
                _say_soon("stop was asked for")
        return bool(numbers)

    def _insist(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: the process is about to end
            self._loop.call_soon_threadsafe(self._answer)
        now = time.monotonic()
        silent = now - self._answered
        if len(self._signals) > 1:
            if silent > SILENT_AT_ONCE_SECONDS or now - self._signals[1] > AT_ONCE_SECONDS:
                self._end("a second signal came")
        elif silent > self._patience:
            self._end("the event loop does not answer")

    def _answer(self) -> None:
        self._answered = time.monotonic()

    def _end(self, why: str) -> None:
        _say_soon("ended by force", why=why, stack=thread_stack(self._thread))
        os._exit(FAILED)


def _say_soon(event: str, **values: str) -> None:
    """Log a line, without waiting for ever: the thread that is stuck may hold the stream."""
    work = threading.Thread(target=lambda: log.warning(event, **values), daemon=True)
    work.start()
    work.join(LAST_LINE_SECONDS)
