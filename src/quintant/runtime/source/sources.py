"""Reasons to reconcile that come from outside the API server: a ticker, a stream of requests.

A source runs beside the workers of its controller and adds keys to their queue. It has no say in
what happens then. A source that ends is simply over; one that raises is begun again after a second,
two, four, up to a minute (`failures`), so it must be one that can be. A stream that cannot be
iterated again, such as a generator, is over when it raises: an error in the log says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterable
from datetime import timedelta
from typing import Any, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from quintant.client.rest import Rest
from quintant.core.clock import Random, seconds_of
from quintant.core.errors import ConfigError
from quintant.core.object import Request
from quintant.runtime.workqueue.key_queue import KeyQueue
from quintant.runtime.workqueue.workqueue import LOW_PRIORITY


class SourceContext(Struct, frozen=True):
    """What a source is given to work with."""

    queue: KeyQueue
    known_keys: Callable[[], Iterable[Request]]
    """The keys of the controller, as far as its caches have seen what is behind them."""
    random: Random
    grace: Callable[[], float] = lambda: 0.0
    """How many seconds a source that is cancelled may take for what it has under way; cancelled
    once more, it ends at once."""
    count_failure: Callable[[], object] = lambda: None
    """Counts something that was raised and that nobody expects."""
    rest: Rest | None = None
    """The API server, for what is not watched by declaration."""


class MisusedSource(ConfigError):
    """A source is not used as it must be: no time mends that."""


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


class Stream(Struct, frozen=True):
    """The source that `stream` makes."""

    requests: AsyncIterable[Request]

    @property
    def once(self) -> bool:
        """Whether it cannot be begun again: it is iterated already."""
        return isinstance(self.requests, AsyncIterator)

    async def __call__(self, context: SourceContext) -> None:
        async for request in self.requests:
            context.queue.add(request)


def stream(requests: AsyncIterable[Request]) -> Source:
    """Reconcile each object that an async iterable names, as it names it."""
    return Stream(requests)


def source(given: Source | AsyncIterable[Request]) -> Source:
    """A source of whatever a user calls one."""
    return stream(given) if isinstance(given, AsyncIterable) else given
