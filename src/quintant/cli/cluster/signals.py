"""Ctrl-C and SIGTERM, for commands that end in order."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def stop_event() -> asyncio.Event:
    """Set when the process is to end."""
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    return stopped


async def run_unless_stopped(stopped: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """What `work` returns, or None, with `work` cancelled, if the process is to end before."""
    task, end = asyncio.ensure_future(work), asyncio.ensure_future(stopped.wait())
    try:
        await asyncio.wait({task, end}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        task.cancel()
        end.cancel()
        await asyncio.gather(task, end, return_exceptions=True)
