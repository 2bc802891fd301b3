"""Work that takes long, beside the loop: in threads, so that other requests are served meanwhile.

What is small is done at once, on the loop. What is large, or turns out to be costly on the way, is
done by threads that a server has while it is on a socket; the interpreter lets them and the loop
take turns of a millisecond. There are two lanes of one thread each, because each more would only
take turns from the loop: large documents wait for each other, and never for a huge one. Whoever
comes when too many wait is sent away, as by a real server that is overrun.
In process and under virtual time there is no thread: everything is done at once, with the same
results in an order that can be repeated.

Done beside may be what changes nothing that others see. It may read the store: whoever acts on the
result looks again at what could have changed (`Writes.is_current`).
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from heapq import heapify, heappop, heappush
from itertools import count
from typing import TypeVar

from quintant.cluster.apiserver.offload.timeouts import TooManyInFlight, request_deadline
from quintant.core.gc import GcPause

STACK_BYTES = 16 * 1024 * 1024
"""Of a thread: no less than what the deepest document takes on a main thread."""
LIGHT_BYTES = 16 * 1024
"""Of documents that are worked on at once: some milliseconds, whatever they hold."""
LARGE_BYTES = 256 * 1024
"""Of documents that wait for nothing larger: each takes less than a second, whatever it holds."""
WAITING = 200
"""Documents that may wait in a lane: as many changes as a real server works on at once."""
TURN_SECONDS = 0.001
"""How long a thread computes while the loop waits; the interpreter's own five milliseconds would
be as many for every step of every other request."""

LIGHT_COST = 20_000
"""What expressions may cost together while they are evaluated at once: about ten milliseconds."""

T = TypeVar("T")


class TooCostlyInline(Exception):
    """What was begun on the loop takes too long there."""


class InlineBudget:
    """Others wait for what is being done: what it may still cost."""

    def __init__(self) -> None:
        self.left: int = LIGHT_COST

    def spend(self, cost: int) -> None:
        """Count what something has cost; TooCostlyInline if it was too much."""
        self.left -= cost
        if self.left <= 0:
            raise TooCostlyInline


_inline_budget: ContextVar[InlineBudget | None] = ContextVar("inline_budget", default=None)


def inline_budget() -> InlineBudget | None:
    """What is being done on the loop may cost no more than this; None if it may take its time."""
    return _inline_budget.get()


class Offload:
    """Does work at once, or beside the loop if there are threads for it."""

    def __init__(self) -> None:
        self._threads: tuple[WorkerThread, ...] = ()
        self._gc_pause = GcPause()

    @contextmanager
    def with_threads(self) -> Iterator[None]:
        """Have threads for as long as the context lasts."""
        before, turn = self._threads, sys.getswitchinterval()
        self._threads = threads = (WorkerThread("large"), WorkerThread("huge"))
        sys.setswitchinterval(TURN_SECONDS)
        try:
            yield
        finally:
            self._threads = before
            sys.setswitchinterval(turn)
            for thread in threads:
                thread.close()
            self._gc_pause.resume()

    async def run(self, work: Callable[[], T], size: int) -> T:
        """The result of work on so many bytes; it is begun anew if it turns out to be costly.

        TooManyInFlight if too many wait already. Who no longer waits for the result is left out.
        """
        if not self._threads:
            return work()
        large, huge = self._threads
        thread = large if LIGHT_BYTES < size <= LARGE_BYTES else huge
        if size <= LIGHT_BYTES:
            try:
                return _in_a_hurry(work)
            except TooCostlyInline:
                pass
        with self._gc_pause.paused():
            return await thread.run(work)


class WorkerThread:
    """One thread, and who waits for it: who has to be answered first has the next turn.

    So a request that was begun is finished before others are begun, however many steps it takes.
    """

    def __init__(self, name: str) -> None:
        self._thread = _started(name)
        self._busy = False
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._arrivals = count()

    async def run(self, work: Callable[[], T]) -> T:
        """The result of work, in its turn; TooManyInFlight if too many wait already."""
        if len(self._waiting) >= WAITING:
            raise TooManyInFlight()
        await self._turn()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, work)
        finally:
            # In a moment: what was done here may have a next step, which may come first.
            loop.call_soon(self._pass_on)

    def close(self) -> None:
        """Finish what is being done, and nothing else."""
        self._thread.shutdown(cancel_futures=True)

    async def _turn(self) -> None:
        if not self._busy:
            self._busy = True
            return
        mine = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (request_deadline(), next(self._arrivals), mine))
        try:
            await mine
        except asyncio.CancelledError:
            if mine.cancelled():
                self._waiting = [each for each in self._waiting if each[2] is not mine]
                heapify(self._waiting)
            else:
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        if self._waiting:
            *_, next_ = heappop(self._waiting)
            next_.set_result(None)
        else:
            self._busy = False


def _started(name: str) -> ThreadPoolExecutor:
    """One thread, with room for what calls itself often."""
    thread, usual = ThreadPoolExecutor(1, name), threading.stack_size(STACK_BYTES)
    try:
        thread.submit(int)
    finally:
        threading.stack_size(usual)
    return thread


def _in_a_hurry(work: Callable[[], T]) -> T:
    token = _inline_budget.set(InlineBudget())
    try:
        return work()
    finally:
        _inline_budget.reset(token)
