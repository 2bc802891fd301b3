"""One call of one handler, and what came of it: a result, or an error as its mode takes it.

Coroutines run on the loop, functions in a thread each. A thread cannot be ended: a call that is
cancelled waits for it, or two calls of one handler would run at once.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from quintant.core.clock import Clock
from quintant.kopf.declare.contexts import (
    current_cause,
    current_events,
    current_execution,
    current_handler,
    current_subregistry,
)
from quintant.kopf.declare.errors import (
    ChildrenUnfinished,
    ErrorsMode,
    HandlerRetriesError,
    HandlerTimeoutError,
    PermanentError,
    TemporaryError,
)
from quintant.kopf.declare.handlers import Handler, HandlerKind
from quintant.kopf.declare.lifecycles import Lifecycle
from quintant.kopf.declare.settings import OperatorSettings
from quintant.kopf.persist.progress import ChangeProgress, HandlerOutcome, HandlerProgress
from quintant.kopf.run.subhandlers import Subhandlers
from quintant.kopf.run.threads import HandlerThreads


@dataclass(frozen=True)
class Execution:
    """What calls of handlers need beside what they are called with."""

    settings: OperatorSettings
    clock: Clock
    lifecycle: Lifecycle
    threads: HandlerThreads
    events: Any
    """Where `kopf.event` puts events."""
    abandoned: asyncio.Event
    """Set when the process is about to end: threads that go on are left to themselves."""

    def now(self) -> datetime:
        return self.clock.now()


async def call_handlers(
    execution: Execution,
    handlers: Sequence[Handler],
    cause: Any,
    progress: ChangeProgress,
    *,
    lifecycle: Lifecycle | None = None,
    errors: ErrorsMode = ErrorsMode.TEMPORARY,
) -> dict[str, HandlerOutcome]:
    """Call those handlers that are due and whose turn it is; what came of each, by its id."""
    now = execution.now()
    due = [each for each in handlers if progress[each.id].due(now)]
    chosen = (lifecycle or execution.lifecycle)(due, state=progress, **cause.kwargs())
    return {
        each.id: await call_handler(execution, each, cause, progress[each.id], errors)
        for each in chosen
    }


async def call_handler(
    execution: Execution,
    handler: Handler,
    cause: Any,
    progress: HandlerProgress,
    errors: ErrorsMode,
) -> HandlerOutcome:
    """Call a handler once; whatever it raises is an outcome."""
    subhandlers = Subhandlers(execution, cause, handler)
    spent = (execution.now() - progress.started).total_seconds()
    try:
        _check_limits(handler, progress, spent)
        result = await _invoke(execution, handler, cause.at(handler), progress, subhandlers)
    except ChildrenUnfinished as error:
        return HandlerOutcome(False, error.delay, None, error, subhandlers.ids)
    except Exception as error:  # a handler's error is its outcome, and ends nothing else
        outcome = _failed(execution, handler, error, progress, spent, errors)
        _log(cause, handler, outcome, error)
        return HandlerOutcome(
            outcome.final, outcome.delay, None, outcome.exception, frozenset(subhandlers.ids)
        )
    level = logging.DEBUG if handler.kind is HandlerKind.INDEX else logging.INFO
    cause.logger.log(level, "%s succeeded.", handler.title)
    return HandlerOutcome(True, result=result, subrefs=frozenset(subhandlers.ids))


async def _invoke(
    execution: Execution,
    handler: Handler,
    cause: Any,
    progress: HandlerProgress,
    subhandlers: Subhandlers,
) -> Any:
    context: list[tuple[ContextVar[Any], Any]] = [
        (current_handler, handler),
        (current_cause, cause),
        (current_subregistry, subhandlers.declared),
        (current_execution, subhandlers),
        (current_events, execution.events),
    ]
    tokens = [(variable, variable.set(value)) for variable, value in context]
    more = {
        "param": handler.param,
        "retry": progress.retries,
        "started": progress.started,
        "runtime": execution.now() - progress.started,
    }
    try:
        result = await invoke(handler.fn, cause, more, execution)
        await subhandlers.finish()
        return result
    finally:
        for variable, token in reversed(tokens):
            variable.reset(token)


async def invoke(
    fn: Callable[..., Any], cause: Any, more: Mapping[str, Any], execution: Execution
) -> Any:
    """What a function returns: awaited if it is a coroutine's, from a thread else."""
    if is_async(fn):
        return await fn(**more, **cause.kwargs(sync=False))
    call = partial(copy_context().run, partial(fn, **more, **cause.kwargs(sync=True)))
    future = await execution.threads.begin(call)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await _outlive(future, execution.abandoned)
        raise


async def _outlive(future: asyncio.Future[Any], abandoned: asyncio.Event) -> None:
    """Wait for a thread whose call is no longer wanted, unless the process is about to end."""
    future.add_done_callback(_forget)
    end = asyncio.ensure_future(abandoned.wait())
    try:
        while not future.done() and not abandoned.is_set():
            try:
                await asyncio.wait({future, end}, return_when=asyncio.FIRST_COMPLETED)
            except asyncio.CancelledError:
                continue  # two calls of one handler must not run at once, however often it is
    finally:
        end.cancel()


def _forget(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()


def is_async(fn: Callable[..., Any]) -> bool:
    """Whether a function is a coroutine's, however it is wrapped."""
    if isinstance(fn, partial):
        return is_async(fn.func)
    if hasattr(fn, "__wrapped__"):
        return is_async(fn.__wrapped__)
    return inspect.iscoroutinefunction(fn)


def _check_limits(handler: Handler, progress: HandlerProgress, spent: float) -> None:
    if handler.timeout is not None and spent >= handler.timeout:
        raise HandlerTimeoutError(f"handler {handler.id!r} was not done within {handler.timeout} s")
    if handler.retries is not None and progress.retries >= handler.retries:
        raise HandlerRetriesError(f"handler {handler.id!r} was called {progress.retries} times")


def _failed(
    execution: Execution,
    handler: Handler,
    error: Exception,
    progress: HandlerProgress,
    spent: float,
    errors: ErrorsMode,
) -> HandlerOutcome:
    """What an error means: again after a while, or never."""
    mode = errors if handler.errors is None else handler.errors
    if isinstance(error, PermanentError):
        return HandlerOutcome(True, exception=error)
    delay = _delay(execution, handler, error)
    if not isinstance(error, TemporaryError):
        if mode is ErrorsMode.IGNORED:
            return HandlerOutcome(True)
        if mode is ErrorsMode.PERMANENT:
            return HandlerOutcome(True, exception=error)
    if handler.timeout is not None and spent + (delay or 0) >= handler.timeout:
        text = f"handler {handler.id!r} cannot be done within {handler.timeout} s: {error}"
        return HandlerOutcome(True, exception=HandlerTimeoutError(text))
    if handler.retries is not None and progress.retries + 1 >= handler.retries:
        text = f"handler {handler.id!r} may not be called again: {error}"
        return HandlerOutcome(True, exception=HandlerRetriesError(text))
    return HandlerOutcome(False, delay, exception=error)


def _delay(execution: Execution, handler: Handler, error: Exception) -> float | None:
    if isinstance(error, TemporaryError):
        return error.delay
    backoff = handler.backoff
    return execution.settings.execution.default_backoff if backoff is None else backoff


def _log(cause: Any, handler: Handler, outcome: HandlerOutcome, error: Exception) -> None:
    expected = isinstance(error, PermanentError | TemporaryError)
    how = _manner(error, outcome)
    cause.logger.error(
        "%s failed %s: %s", handler.title, how, error or repr(error),
        exc_info=None if expected else error,
    )  # fmt: skip


def _manner(error: Exception, outcome: HandlerOutcome) -> str:
    """How a handler failed, and what comes of it."""
    if isinstance(error, PermanentError):
        return "permanently"
    then = "and will stop now" if outcome.final else f"and will be called in {outcome.delay} s"
    if isinstance(error, TemporaryError):
        return f"temporarily {then}"
    ignored = outcome.final and outcome.exception is None
    return f"with an exception {'and will ignore it' if ignored else then}"
