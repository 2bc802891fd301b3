"""Calls that block, in threads of their own, so that the event loop continues: `ctx.in_thread`.

They are few at once, because a library that blocks is as a rule one that a hundred calls at once
would knock down. A thread cannot be cancelled: a reconcile that ran out of time waits for its call
to end, or else two calls for one key would run at once. When the process ends, it does not wait.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextvars import copy_context
from functools import partial
from typing import Any, Final, ParamSpec, TypeVar

from quintant.runtime.observe.logs import get_logger

# Blocking calls of a process at once: as many as four controllers with four workers each make.
THREADS = 16

log: Final = get_logger()

P = ParamSpec("P")
T = TypeVar("T")


class BlockingCalls:
    """The blocking calls of one process, so many at once."""

    def __init__(self, limit: int = THREADS) -> None:
        self._slots = asyncio.Semaphore(limit)
        self._threads = DaemonThreads()
        self._abandoned = asyncio.Event()

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `function` returns or raises, called in a thread with this task's context."""
        call = partial(copy_context().run, function, *args, **kwargs)
        async with self._slots:
            future = asyncio.get_running_loop().run_in_executor(self._threads, call)
            try:
                return await asyncio.shield(future)
            except asyncio.CancelledError:
                if not future.done():
                    await self._outlive(future, function)
                raise

    def abandon(self) -> None:
        """Let those go that wait for a call to end: the process is about to."""
        self._abandoned.set()

    async def _outlive(self, future: asyncio.Future[Any], function: Callable[..., Any]) -> None:
        log.warning("blocking call goes on after its reconcile", function=_name(function))
        future.add_done_callback(_forget)
        abandoned = asyncio.ensure_future(self._abandoned.wait())
        try:
            await asyncio.wait({future, abandoned}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            abandoned.cancel()


class DaemonThreads(Executor):
    """A thread for each call; none of them keeps the process from ending.

    Those of the standard library's pool do: the interpreter waits for each of them.
    """

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        work = partial(_work, future, partial(fn, *args, **kwargs))
        threading.Thread(target=work, name="quintant-blocking-call", daemon=True).start()
        return future


def _work(future: Future[T], call: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except StopIteration as error:
        # A future cannot hold it, and would stay unresolved for ever.
        raised = RuntimeError("the function raised StopIteration")
        raised.__cause__ = error
        future.set_exception(raised)
    except BaseException as error:  # whatever it is, it belongs to the one who waits
        future.set_exception(error)
    else:
        future.set_result(result)


def _forget(future: asyncio.Future[Any]) -> None:
    """No task waits for the outcome any more, so its loss is not reported."""
    if not future.cancelled():
        future.exception()


def _name(function: Callable[..., Any]) -> str:
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__qualname__", None) or type(function).__qualname__
