"""The event loop of our processes: the fast one, where there is one."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop where it is installed, else asyncio's own loop."""
    try:
        import uvloop
    except ImportError:  # not made for Windows
        return None
    return uvloop.new_event_loop


def settle() -> None:
    """Keep what there is now out of every later search for garbage, which halts the loop.

    For a process that has just started and will run for long: modules, tables and what else was
    made at the start are most of what would be searched, tens of milliseconds each time.
    """
    gc.collect()
    gc.freeze()
