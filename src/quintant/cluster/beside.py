"""Work that takes long, beside the loop: in a thread, so that everybody else is served meanwhile.

What is small is done at once, on the loop. What is large, or turns out to be costly on the way, is
done by the one thread that a server has while it is on a socket; the interpreter lets both take
turns of a few milliseconds. One thread, because each more would only take turns from the loop.
In process and under virtual time there is none: everything is done at once, with the same results
in an order that can be repeated.

Done beside may be what changes nothing that others see. It may read the store: whoever acts on the
result looks again at what could have changed (`Writes.current`).
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

STACK_BYTES = 16 * 1024 * 1024
"""Of the thread: no less than what the deepest document takes on a main thread."""
LIGHT_BYTES = 16 * 1024
"""Of documents that are worked on at once: some milliseconds, whatever they hold."""

LIGHT_COST = 20_000
"""What expressions may cost together while they are evaluated at once: about ten milliseconds."""

T = TypeVar("T")


class Costly(Exception):
    """What was begun on the loop takes too long there."""


class Haste:
    """Others wait for what is being done: what it may still cost."""

    def __init__(self) -> None:
        self.left = LIGHT_COST

    def spend(self, cost: int) -> None:
        """Count what something has cost; Costly if it was too much."""
        self.left -= cost
        if self.left <= 0:
            raise Costly


_haste: ContextVar[Haste | None] = ContextVar("haste", default=None)


def haste() -> Haste | None:
    """What is being done on the loop may cost no more than this; None if it may take its time."""
    return _haste.get()


class Beside:
    """Does work at once, or beside the loop if there is a thread for it."""

    def __init__(self) -> None:
        self._thread: ThreadPoolExecutor | None = None

    @contextmanager
    def staffed(self) -> Iterator[None]:
        """Have a thread for as long as the context lasts."""
        before = self._thread
        self._thread = thread = _started()
        try:
            yield
        finally:
            self._thread = before
            thread.shutdown(cancel_futures=True)

    async def do(self, work: Callable[[], T], size: int) -> T:
        """The result of work on so many bytes; it is begun anew if it turns out to be costly."""
        if self._thread is None:
            return work()
        if size <= LIGHT_BYTES:
            try:
                return _in_a_hurry(work)
            except Costly:
                pass
        return await asyncio.get_running_loop().run_in_executor(self._thread, _at_leisure, work)


def _at_leisure(work: Callable[[], T]) -> T:
    """Work in the thread, with no search for garbage: that would hold up everybody.

    What is made of a document is freed when it is no longer used, as it has no cycles.
    """
    searching = gc.isenabled()
    gc.disable()
    try:
        return work()
    finally:
        if searching:
            gc.enable()


def _started() -> ThreadPoolExecutor:
    """One thread, with room for what calls itself often."""
    thread, usual = ThreadPoolExecutor(1, "beside"), threading.stack_size(STACK_BYTES)
    try:
        thread.submit(int)
    finally:
        threading.stack_size(usual)
    return thread


def _in_a_hurry(work: Callable[[], T]) -> T:
    token = _haste.set(Haste())
    try:
        return work()
    finally:
        _haste.reset(token)
