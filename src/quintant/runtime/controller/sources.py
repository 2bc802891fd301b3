"""Reasons to reconcile that come from outside the API server: a ticker, a stream of requests.

A source runs beside the workers of its controller and adds keys to their queue. It has no say in
what happens then. A source that ends is simply over; one that raises stops its controller, so
whatever can fail and recover must do so inside the source.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Callable, Coroutine, Iterable
from datetime import timedelta
from typing import Any, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from quintant.core.clock import Random, seconds_of
from quintant.core.errors import ConfigError
from quintant.core.object import Request
from quintant.runtime.controller.workqueue import LOW_PRIORITY, Workqueue


class SourceContext(Struct, frozen=True):
    """What a source is given to work with."""

    queue: Workqueue[Request]
    known_keys: Callable[[], Iterable[Request]]
    """The keys of the controller, as far as its caches have seen what is behind them."""
    random: Random
    grace: Callable[[], float] = lambda: 0.0
    """How many seconds a source that is cancelled may take for what it has under way; cancelled
    once more, it ends at once."""


Source: TypeAlias = Callable[[SourceContext], Coroutine[Any, Any, None]]


@runtime_checkable
class BusySource(Protocol):
    """A source that has work of its own, after which it wakes a key."""

    @property
    def busy(self) -> bool:
        """Whether something is under way."""

    def __call__(self, context: SourceContext, /) -> Coroutine[Any, Any, None]: ...


class Ticker(Struct, frozen=True):
    """The source that `every` makes."""

    seconds: float
    jitter: float

    async def __call__(self, context: SourceContext) -> None:
        while True:
            await asyncio.sleep(context.random.jitter(self.seconds, self.jitter))
            for request in context.known_keys():
                context.queue.add(request, priority=LOW_PRIORITY)


def every(period: float | timedelta, jitter: float = 0.1) -> Source:
    """Reconcile every object each `period`, give or take `jitter` of it, below live changes.

    The jitter keeps replicas and restarts from asking an outside system all at once.
    """
    seconds = seconds_of(period)
    if seconds <= 0 or not 0 <= jitter < 1:
        raise ConfigError(
            f"cannot tick every {seconds} s with jitter {jitter}",
            because="the period must be above 0, and the jitter at least 0 and below 1",
        )

    return Ticker(seconds, jitter)


def stream(requests: AsyncIterable[Request]) -> Source:
    """Reconcile each object that an async iterable names, as it names it."""

    async def follow(context: SourceContext) -> None:
        async for request in requests:
            context.queue.add(request)

    return follow


def source(given: Source | AsyncIterable[Request]) -> Source:
    """A source of whatever a user calls one."""
    return stream(given) if isinstance(given, AsyncIterable) else given
