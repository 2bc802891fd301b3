"""The event loop of our processes: the fast one, where there is one, and how it is told to end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop where it is installed, else asyncio's own loop."""
    try:
        import uvloop
    except ImportError:  # not made for Windows
        return None
    return uvloop.new_event_loop


def stop_on_signals() -> Callable[[], bool]:
    """Cancel this task on SIGTERM and Ctrl-C, again on each; says whether one has come."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    seen: list[int] = []

    def stop(number: int) -> None:
        seen.append(number)
        if task is not None:
            task.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    return lambda: bool(seen)
