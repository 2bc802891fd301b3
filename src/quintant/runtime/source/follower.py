"""A source that follows things outside the cluster, and wakes the key whose things have news.

    reconcile ──want(key, targets)──> Follower ──a task per target──> conversation
        ^                                                                   │
        └───── key <── queue <── a first word, another word, or silence ────┘

A conversation begins when a reconcile wants its target, and ends when no reconcile wants it any
more. It may be long (a stream, a subscription), a question that is asked again and again (`every`
so many seconds), or one question and its answer: what ends after a word is begun again after
`first` seconds, so that a question makes a poller. What cannot be
reached is tried ever more rarely, and what it reported before is forgotten: silence is no news,
never old news. Whatever a conversation raises ends that conversation, and no other: the outside
must not be able to end the process (`failures`). Calls that change something are `long_calls`.

A follower writes nothing. It runs with its controller, on the leader only, and its tasks are
awaited when that stops. Time is the loop's, and chance the controller's.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import AsyncGenerator, Callable, Collection, Hashable, Mapping
from contextlib import aclosing, suppress
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from quintant.core.clock import monotonic
from quintant.core.errors import TransportError
from quintant.core.object import Request
from quintant.runtime.source.failures import FailureReport, being_cancelled
from quintant.runtime.source.own_task import in_own_task
from quintant.runtime.source.sources import SourceContext

T = TypeVar("T", bound=Hashable)
T_contra = TypeVar("T_contra", contravariant=True)
N = TypeVar("N")
N_co = TypeVar("N_co", covariant=True)


class Unreachable(Exception):
    """A target does not answer, or says nothing sensible: it is tried again later."""


class Conversation(Protocol[T_contra, N_co]):
    """How a target is followed; usually an async generator function."""

    def __call__(self, target: T_contra, /) -> AsyncGenerator[N_co, None]:
        """Yields what a target reports; Unreachable, TransportError or OSError if it fails.

        Whatever else it raises is taken for the same, and for a mistake: it is logged and counted.
        """


class Pace(Struct, frozen=True):
    """How often targets are tried, and how many at once. Times are seconds."""

    first: float = 1.0
    """Until the next try after a conversation with any word in it, and after a first failure."""
    cap: float = 15.0
    """Each failure doubles the wait, up to this: a target that is back is noticed by then."""
    jitter: float = 0.2
    """Waits vary by this part, so that targets which failed together are not tried together."""
    patience: float = 30.0
    """How long a first word may take; what is silent for longer counts as unreachable."""
    opening: int = 256
    """Conversations that wait for their first word at once; more would need too many sockets."""
    every: float | Callable[[Any], float] = 0
    """Between a word and asking the conversation for the next, exactly; a function says it of a
    target. 0 asks at once, as a stream needs it."""

    def seconds_between(self, target: Any) -> float:
        """How long the next word of a target is waited with."""
        return self.every(target) if callable(self.every) else self.every


class _Followed(Generic[T, N]):
    """A target that is wanted, and what it reported last."""

    __slots__ = ("failures", "name", "news", "nudge", "ready", "since", "target", "task", "wait")

    def __init__(self, name: str, target: T) -> None:
        self.name, self.target, self.since = name, target, monotonic()
        self.failures = FailureReport()
        self.news: N | None = None
        self.ready = False
        self.nudge = asyncio.Event()
        self.wait: asyncio.Future[None] | None = None
        """Between two words of a conversation."""
        self.task: asyncio.Task[None] | None = None

    def prepare(self, ready: bool) -> None:
        """Note whether it is known to be up; when it comes up, it is tried at once."""
        if ready and not self.ready:
            if self.wait is not None:
                _end(self.wait)
            else:
                self.nudge.set()
        self.ready = ready

    async def pause(self, seconds: float) -> None:
        """Wait between two words, at most until it comes up. It costs no more than a sleep."""
        loop = asyncio.get_running_loop()
        self.wait = loop.create_future()
        timer = loop.call_later(seconds, _end, self.wait)
        try:
            await self.wait
        finally:
            timer.cancel()
            self.wait = None

    @property
    def idle(self) -> bool:
        """Whether there is no conversation with it."""
        return self.task is None or self.task.done()

    def report(self, request: Request, error: BaseException, context: SourceContext) -> None:
        """What nobody expects was raised."""
        what = "a conversation failed and is begun again"
        self.failures.failed(context.count_failure, what, error, key=str(request), target=self.name)

    def drop(self) -> None:
        """End the conversation."""
        if self.task is not None:
            self.task.cancel()


class Follower(Generic[T, N]):
    """Follows the targets of every key; pass it to `.on`, which also forgets keys that are gone.

    `same` compares words: one that is the same as the last wakes no key.
    """

    def __init__(
        self,
        conversation: Conversation[T, N],
        *,
        pace: Pace = Pace(),
        same: Callable[[N, N], bool] = operator.eq,
    ) -> None:
        self._conversation, self._pace, self._same = conversation, pace, same
        self._held: dict[Request, dict[str, _Followed[T, N]]] = {}
        self._new: list[tuple[Request, str]] = []
        self._changed = asyncio.Event()
        self._opening = asyncio.Semaphore(pace.opening)

    def want(
        self, request: Request, targets: Mapping[str, T], *, ready: Collection[str] = ()
    ) -> dict[str, N]:
        """Follow these targets of a key, and no others; what each reported last, by its name.

        A target that differs from the one of its name before is followed as a new one. Those in
        `ready` are known to be up: one that was not before is tried, or asked for its next word,
        at once, and not when its wait is over.
        """
        held = self._held.setdefault(request, {})
        for name in [each for each in held if each not in targets]:
            held.pop(name).drop()
        for name, target in targets.items():
            self._follow(request, name, target)
            held[name].prepare(name in ready)
        if not held:
            del self._held[request]
        return {name: each.news for name, each in held.items() if each.news is not None}

    def awaits_first_word(self, request: Request, within: float) -> bool:
        """Whether a target of a key is followed for less than `within` seconds, without a word."""
        since = monotonic() - within
        held = self._held.get(request, {}).values()
        return any(each.news is None and each.since > since for each in held)

    def forget(self, request: Request) -> None:
        """Follow nothing of a key any more: it is gone."""
        self.want(request, {})

    async def __call__(self, context: SourceContext) -> None:
        """Keep a conversation with exactly those that are wanted; a source."""
        self._opening = asyncio.Semaphore(self._pace.opening)
        self._new = [(request, name) for request, held in self._held.items() for name in held]
        async with asyncio.TaskGroup() as group:
            while True:
                begun, self._new = self._new, []
                for request, name in begun:
                    followed = self._held.get(request, {}).get(name)
                    if followed is not None and followed.idle:
                        keep = self._keep(request, followed, context)
                        followed.task = group.create_task(keep)
                await self._changed.wait()
                self._changed.clear()

    def _follow(self, request: Request, name: str, target: T) -> None:
        held = self._held[request]
        known = held.get(name)
        if known is not None and known.target == target:
            return
        if known is not None:
            known.drop()
        held[name] = _Followed(name, target)
        self._new.append((request, name))
        self._changed.set()

    async def _keep(
        self, request: Request, followed: _Followed[T, N], context: SourceContext
    ) -> None:
        pace, pause = self._pace, self._pace.first
        while True:
            if await in_own_task(self._converse(request, followed, context)):
                pause = pace.first
            elif followed.news is not None:
                followed.news = None
                context.queue.add(request)
            await _rest(followed.nudge, context.random.jitter(pause, pace.jitter))
            pause = min(pause * 2, pace.cap)

    async def _converse(
        self, request: Request, followed: _Followed[T, N], context: SourceContext
    ) -> bool:
        """Whether there was any word before the conversation ended."""
        heard = False
        try:
            async with aclosing(self._conversation(followed.target)) as words:
                word = await self._first(words)
                while True:
                    heard = True
                    if followed.news is None or not self._same(followed.news, word):
                        followed.news = word
                        context.queue.add(request)
                    if (seconds := self._pace.seconds_between(followed.target)) > 0:
                        await followed.pause(seconds)
                    word = await anext(words)
        except (Unreachable, TransportError, OSError, StopAsyncIteration):
            followed.failures.passed()
        except asyncio.CancelledError as error:
            if being_cancelled():
                raise
            followed.report(request, error, context)
        except Exception as error:
            # Recovery is owned here: the target is tried again, and others are followed meanwhile.
            followed.report(request, error, context)
        return heard

    async def _first(self, words: AsyncGenerator[N, None]) -> N:
        # A silent target must not keep its place among those that are being opened.
        async with self._opening, asyncio.timeout(self._pace.patience):
            return await anext(words)


def _end(wait: asyncio.Future[None]) -> None:
    if not wait.done():
        wait.set_result(None)


async def _rest(nudge: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await nudge.wait()
    nudge.clear()
