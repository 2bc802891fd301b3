"""The event loop of our processes: the fast one, where there is one, and how signals end it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from quintant.runtime.manager.termination import STOP_SIGNALS, ensured_termination


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop where it is installed, else asyncio's own loop."""
    try:
        import uvloop
    except ImportError:  # not made for Windows
        return None
    return uvloop.new_event_loop


@contextmanager
def stop_on_signals(grace: float) -> Iterator[Callable[[], bool]]:
    """Cancel this task on SIGTERM and Ctrl-C, again on each; says whether one has come.

    A loop that is blocked does not keep the process from ending: see `termination`.
    """
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    seen: list[int] = []

    def stop(number: int) -> None:
        seen.append(number)
        if task is not None:
            task.cancel()

    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, stop, number)
    with ensured_termination(grace):
        yield lambda: bool(seen)
