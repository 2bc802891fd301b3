"""An event loop whose time is virtual: a test of an hour takes a millisecond, and the same one.

Whenever nothing is ready, `VirtualLoop` jumps straight to its next timer instead of sleeping, so
`asyncio.sleep`, `asyncio.timeout` and `loop.call_at` all keep their order and cost nothing. Time
starts at 0.0, moves only by such jumps, never backwards, and a timer sees exactly its own moment.

In this repository every async test under tests/unit and tests/scenarios already runs on it:

    async def test_lease_is_lost_after_fifteen_seconds() -> None:
        await advance(15)    # let everything due within 15 virtual seconds happen
        await settle()       # let everything due now happen; time stands still

Mark a test `@pytest.mark.realtime` for the ordinary loop: real sockets, servers, child processes.
Elsewhere use `run(main())`. Time stands still while `run_in_executor` works in a thread, but a
thread, socket or process the loop knows nothing of does not hold it back from jumping.
"""

from __future__ import annotations

import asyncio
import math
import selectors
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, ThreadPoolExecutor
from concurrent.futures import wait as wait_for_threads
from itertools import count
from random import Random
from typing import Any, TypeVar, TypeVarTuple, Unpack

# Real seconds to wait for a thread or a socket before believing that nothing will come.
PATIENCE_SECONDS = 5.0

# Real seconds to wait for a thread that is known to work, with nothing else to wait for: enough for
# a busy machine.
THREAD_SECONDS = 60.0

# Real seconds within which a thread is believed to need nothing of the loop.
HOLD_SECONDS = 0.5

# Passes of the loop after which progress checks are asked whether work goes round: seldom enough to
# cost nothing, often enough to end a test within seconds.
CHECK_PASSES = 1_000
# Passes without any time after which no check is asked. An object, created and reconciled, takes
# three: this is sixty thousand of them at one moment.
STANDSTILL_PASSES = 200_000

# Passes of the loop after which `settle` believes that callbacks feed each other for ever.
SETTLE_PASSES = 20_000

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


ProgressCheck = Callable[[float], str]
"""Given the virtual time, which stands still: who goes round in circles, or an empty text."""


class LoopStuck(RuntimeError):
    """Tasks wait for what cannot come, or work continues for ever; the text says who and where."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop that jumps to its next timer whenever nothing is ready.

    With no timer left it waits `patience` real seconds for sockets, a minute for threads that work,
    and then raises `LoopStuck`. So it does when work continues for ever and no time passes.
    """

    # The base class's own: its heap of timers, its ready callbacks, and how early a timer may fire.
    _scheduled: list[asyncio.TimerHandle]
    _ready: deque[asyncio.Handle]
    _clock_resolution: float

    def __init__(self, patience: float = PATIENCE_SECONDS, seed: int = 0) -> None:
        """With a `seed`, what is ready at one moment runs in an order of its own, else as it came.

        Callbacks that are no steps of tasks keep their order among themselves, as asyncio promises.
        """
        self._now = 0.0
        self._threads = 0
        self._pool: ThreadPoolExecutor | None = None
        self._patience = patience
        self._passes = 0
        self._progress_checks: list[ProgressCheck] = []
        self._settling: list[tuple[asyncio.Future[None], int]] = []
        super().__init__(_Leaping(self._idle, self._passed))
        self._tasks = count(1)
        self.set_task_factory(self._numbered)
        if seed:
            self._ready = _Shuffled(seed)
        self._jump(0.0)

    def _numbered(
        self, loop: asyncio.AbstractEventLoop, coro: Any, **given: Any
    ) -> asyncio.Task[Any]:
        """A task as the base class makes it, with a place in sets that no address decides."""
        return _NumberedTask(next(self._tasks), coro, loop=loop, **given)

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._now

    def timers(self) -> int:
        """How many timers are pending; a program at rest has none it does not need."""
        return sum(not timer.cancelled() for timer in self._scheduled)

    def next_timer(self) -> float:
        """When the next timer rings; infinitely late if there is none."""
        return min((t.when() for t in self._scheduled if not t.cancelled()), default=math.inf)

    def settled(self) -> asyncio.Future[None]:
        """Done as soon as nothing is ready; LoopStuck if callbacks feed each other for ever."""
        future = self.create_future()
        self._settling.append((future, self._passes + SETTLE_PASSES))
        return future

    def add_progress_check(self, check: ProgressCheck) -> None:
        """Ask `check`, while work continues without time, whether it goes round in circles."""
        self._progress_checks.append(check)

    def _passed(self) -> None:
        """A pass of the loop found something ready, so time stands still."""
        self._passes += 1
        if self._passes % CHECK_PASSES:
            return
        self._give_up_settling()
        messages = [text for check in self._progress_checks if (text := check(self._now))]
        if not messages and self._passes < STANDSTILL_PASSES:
            return
        passes, self._passes = self._passes, 0
        raise LoopStuck(_explain_standstill(self, passes, messages))

    def _give_up_settling(self) -> None:
        for future, last in self._settling:
            if self._passes >= last and not future.done():
                text = f"callbacks are still ready after {SETTLE_PASSES} passes of the loop"
                future.set_exception(LoopStuck(text))
        self._settling = [each for each in self._settling if not each[0].done()]

    def run_in_executor(
        self,
        executor: Executor | None,
        func: Callable[[Unpack[Ts]], T],
        *args: *Ts,
    ) -> asyncio.Future[T]:
        """Run `func` in a thread; virtual time stands still meanwhile.

        The loop holds still too, as long as the thread may need nothing of it: then what follows
        the call comes in the same order every time.
        """
        if executor is None:
            executor = self._pool = self._pool or ThreadPoolExecutor()
            self.set_default_executor(self._pool)
        work = executor.submit(func, *args)
        wait_for_threads([work], min(self._patience, HOLD_SECONDS))
        future = asyncio.wrap_future(work, loop=self)
        self._threads += 1
        future.add_done_callback(self._returned)
        return future

    def _returned(self, _: asyncio.Future[Any]) -> None:
        self._threads -= 1

    def _idle(self, poll: Callable[[float], _Events], timeout: float | None) -> _Events:
        """What the selector does with nothing ready: tell, wait for a thread, jump, or give up."""
        if self._settling:
            settling, self._settling = self._settling, []
            for future, _ in settling:
                if not future.done():
                    future.set_result(None)
            return []
        if timeout is None or self._threads:
            events = poll(THREAD_SECONDS if timeout is None and self._threads else self._patience)
            if events:
                return events
        if timeout is None:
            raise LoopStuck(_explain(self))
        self._jump(self._scheduled[0].when())
        return []

    def _jump(self, moment: float) -> None:
        self._now, self._passes = moment, 0
        # The base class fires timers up to one resolution early. One ulp means: never early, and
        # always on time, however large the virtual time has become.
        self._clock_resolution = math.ulp(moment)


def run(main: Coroutine[Any, Any, T], *, seed: int = 0, loop: VirtualLoop | None = None) -> T:
    """Run `main` to its end on a fresh virtual loop, as `asyncio.run` would on a real one.

    A `seed` is an order of what is ready at one moment: another interleaving of the same tasks.
    A `loop` of one's own is used instead, and closed.
    """
    with asyncio.Runner(loop_factory=lambda: loop or VirtualLoop(seed=seed)) as runner:
        return runner.run(main)


async def advance(seconds: float) -> None:
    """Let `seconds` of virtual time pass, and everything due within them happen."""
    await asyncio.sleep(seconds)


async def settle() -> None:
    """Let everything that is ready happen, and what follows from it, without moving time."""
    loop = asyncio.get_running_loop()
    if not isinstance(loop, VirtualLoop):
        raise RuntimeError("settle() needs a VirtualLoop: is the test marked realtime?")
    await loop.settled()


class _NumberedTask(asyncio.Task[Any]):
    """A task whose hash is its number: groups end their tasks in the order of a set."""

    def __init__(self, number: int, coro: Any, **given: Any) -> None:
        self._number = number
        super().__init__(coro, **given)

    def __hash__(self) -> int:
        return self._number


class _Shuffled(deque[asyncio.Handle]):
    """What is ready, in an order that a seed decides; timers of one moment are ready together."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._bits = Random(seed).getrandbits

    def popleft(self) -> asyncio.Handle:
        if len(self) < 2:
            return super().popleft()
        chosen = self._below(len(self))
        if not _is_step(self[chosen]):
            chosen = next(at for at, handle in enumerate(self) if not _is_step(handle))
        self.rotate(-chosen)
        handle = super().popleft()
        self.rotate(chosen)
        return handle

    def _below(self, most: int) -> int:
        """What `randrange` draws, without its checks: it is asked for every step of every task."""
        bits = most.bit_length()
        while (drawn := self._bits(bits)) >= most:
            continue
        return drawn


def _is_step(handle: asyncio.Handle) -> bool:
    """Whether a callback is a step of a task, which may come before or after any other's."""
    callback = handle._callback  # type: ignore[attr-defined]
    return isinstance(getattr(callback, "__self__", None), asyncio.Task)


_Events = list[tuple[selectors.SelectorKey, int]]


class _Leaping(selectors.DefaultSelector):
    """Real I/O when there is some; otherwise `idle` decides how the time passes."""

    def __init__(
        self,
        idle: Callable[[Callable[[float], _Events], float | None], _Events],
        passed: Callable[[], None],
    ) -> None:
        super().__init__()
        self._idle, self._passed = idle, passed

    def select(self, timeout: float | None = None) -> _Events:
        if timeout == 0 and len(self.get_map()) == 1:
            # Only the loop's own way to be woken is here, and it is awake: no need to ask.
            self._passed()
            return []
        events = super().select(0)
        if events or timeout == 0:
            self._passed()
            return events
        return self._idle(super().select, timeout)


def _explain(loop: VirtualLoop) -> str:
    return (
        "nothing left to happen: every task waits for something that cannot come "
        f"(virtual time {loop.time()}){_tasks(loop)}"
    )


def _explain_standstill(loop: VirtualLoop, passes: int, messages: list[str]) -> str:
    return (
        f"work goes on and no virtual time passes: {passes} passes of the loop at {loop.time()} s"
        + ("\n" + "\n".join(messages) if messages else _tasks(loop))
    )


def _tasks(loop: VirtualLoop) -> str:
    tasks = sorted(asyncio.all_tasks(loop), key=lambda task: task.get_name())
    return "".join(f"\n  {task!r}" for task in tasks)
