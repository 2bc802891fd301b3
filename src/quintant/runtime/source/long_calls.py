"""Calls that take minutes: made outside the reconcile that wants them, one at a time per key.

    reconcile ──begin(key, token, work)──> LongCalls ──a task per key──> the outside
        ^                                                                   │
        └──────── key <── queue <──── it ended, well or badly ──────────────┘

A reconcile names a call by a token, which it wrote down before, and is given how that call ended,
or nothing yet. A call that is under way is never cancelled for the sake of another: the other
end would continue with it anyway. What fails is an outcome like any other, and is never
repeated here.

It runs with its controller, on the leader only. When that stops, or the lease is lost, nothing is
begun any more, and what is under way has the manager's grace to end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextvars import copy_context
from typing import Final, Generic, TypeVar

from msgspec import Struct

from quintant.core.object import Request
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.source.call_places import CallPlaces
from quintant.runtime.source.sources import SourceContext

# Calls under way at once, of all keys: more would need too many connections.
LIMIT = 64

log: Final = get_logger()

R = TypeVar("R")


class CallOutcome(Struct, Generic[R], frozen=True):
    """How a call ended: with a value, or with an error."""

    value: R | None = None
    error: Exception | None = None

    def result(self) -> R:
        """The value; raises the error if there is one."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]  # None only where R allows it


class _LongCall(Generic[R]):
    """The last call of a key."""

    __slots__ = ("context", "outcome", "timeout", "token", "work")

    def __init__(
        self, token: Hashable, work: Callable[[], Awaitable[R]], timeout: float | None
    ) -> None:
        self.token, self.work, self.timeout = token, work, timeout
        self.outcome: CallOutcome[R] | None = None
        self.context = copy_context()
        """Of the reconcile that began it: its writes are those of the same key."""


class _Run(Generic[R]):
    """The calls of one run of the controller; nothing of it outlives that."""

    def __init__(self) -> None:
        self.calls: dict[Request, _LongCall[R]] = {}
        self.requested: list[tuple[Request, _LongCall[R]]] = []
        self.changed = asyncio.Event()
        self.stopping = False


class LongCalls(Generic[R]):
    """Makes calls of minutes; pass it to `.on`, which also forgets keys that are gone."""

    def __init__(self, *, limit: int = LIMIT) -> None:
        self._limit = limit
        self._places = CallPlaces(limit)
        self._run: _Run[R] = _Run()

    def begin(
        self,
        request: Request,
        token: Hashable,
        work: Callable[[], Awaitable[R]],
        *,
        timeout: float | None = None,
    ) -> CallOutcome[R] | None:
        """How the call `token` of a key ended; None while it, or one before it, is under way.

        It is begun if the key has no call of that token and none under way; its key is woken when
        a call ends, so ask in every reconcile that wants it. `timeout` is in seconds.
        """
        run = self._run
        known = run.calls.get(request)
        if known is not None and (known.token == token or known.outcome is None):
            return known.outcome if known.token == token else None
        call = run.calls[request] = _LongCall(token, work, timeout)
        run.requested.append((request, call))
        run.changed.set()
        return None

    def outcome(self, request: Request, token: Hashable) -> CallOutcome[R] | None:
        """How the call `token` of a key ended, if it was made by this process and is over."""
        known = self._run.calls.get(request)
        return known.outcome if known is not None and known.token == token else None

    def is_under_way(self, request: Request) -> bool:
        """Whether a call of this key has not ended."""
        known = self._run.calls.get(request)
        return known is not None and known.outcome is None

    def under_way(self) -> list[Request]:
        """The keys whose calls have not ended."""
        return [key for key, call in self._run.calls.items() if call.outcome is None]

    @property
    def busy(self) -> bool:
        """Whether any call has not ended."""
        return any(call.outcome is None for call in self._run.calls.values())

    def forget(self, request: Request) -> None:
        """Drop the outcome of a key's last call, so that it may be begun again.

        One that is under way continues.
        """
        known = self._run.calls.get(request)
        if known is not None and known.outcome is not None:
            del self._run.calls[request]

    def divide(self, members: int) -> None:
        """Make no more than this process's part of the calls that so many members may together."""
        self._places.resize(max(1, self._limit // members))

    async def __call__(self, context: SourceContext) -> None:
        """Make the calls that are asked for; a source."""
        run = self._run
        try:
            await self._make(run, context)
        finally:
            # Whoever makes calls next begins with those that are asked for from now on.
            self._run = _Run()

    async def _make(self, run: _Run[R], context: SourceContext) -> None:
        under_way: set[asyncio.Task[None]] = set()
        async with asyncio.TaskGroup() as group:
            try:
                while True:
                    calls, run.requested = run.requested, []
                    for request, call in calls:
                        work = _perform(run, self._places, request, call, context)
                        task = group.create_task(work, context=call.context)
                        under_way.add(task)
                        task.add_done_callback(under_way.discard)
                    await run.changed.wait()
                    run.changed.clear()
            finally:
                run.stopping = True
                await _finish(under_way, context.grace())


async def _perform(
    run: _Run[R],
    places: CallPlaces,
    request: Request,
    call: _LongCall[R],
    context: SourceContext,
) -> None:
    async with places:
        if run.stopping:
            return
        try:
            async with asyncio.timeout(call.timeout):
                call.outcome = CallOutcome(await call.work())
        except asyncio.CancelledError:
            if run.stopping:
                raise
            # It awaited something cancelled; its key must hear of that.
            call.outcome = CallOutcome(error=RuntimeError("the call cancelled itself"))
        except Exception as error:
            # Recovery is the reconciler's: it asks for the outcome, and says what follows.
            call.outcome = CallOutcome(error=error)
    context.queue.add(request)


async def _finish(under_way: set[asyncio.Task[None]], grace: float) -> None:
    """Let calls end by themselves; those still under way then are cancelled by the group."""
    if under_way and grace > 0:
        log.info("waiting for calls under way", calls=len(under_way), grace=grace)
        await asyncio.wait(under_way, timeout=grace)
    if under_way:
        log.warning("stopped with calls under way", calls=len(under_way))
