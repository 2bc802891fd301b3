"""A source that follows things outside the cluster, and wakes the key whose things have news.

    reconcile ──want(key, targets)──> Follower ──a task per target──> conversation
        ^                                                                   │
        └───── key <── queue <── a first word, another word, or silence ────┘

A conversation begins when a reconcile wants its target, and ends when no reconcile wants it any
more. It may be long (a stream, a subscription) or one question and its answer: what ends after a
word is begun again after `first` seconds, so that a question makes a poller. What cannot be
reached is tried ever more rarely, and what it told before is forgotten: silence is no news, never
old news. Calls that change something are `long_calls`.

A follower writes nothing. It runs with its controller, on the leader only, and its tasks are
awaited when that stops. Time is the loop's, and chance the controller's.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import AsyncGenerator, Callable, Collection, Hashable, Mapping
from contextlib import aclosing, suppress
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from quintant.core.clock import monotonic
from quintant.core.errors import TransportError
from quintant.core.object import Request
from quintant.runtime.controller.sources import SourceContext

T = TypeVar("T", bound=Hashable)
T_contra = TypeVar("T_contra", contravariant=True)
N = TypeVar("N")
N_co = TypeVar("N_co", covariant=True)


class Unreachable(Exception):
    """A target does not answer, or says nothing sensible: it is tried again later."""


class Conversation(Protocol[T_contra, N_co]):
    """How a target is followed; usually an async generator function."""

    def __call__(self, target: T_contra, /) -> AsyncGenerator[N_co, None]:
        """What a target tells, word by word; Unreachable, TransportError or OSError if it fails."""


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


class _Followed(Generic[T, N]):
    """A target that is wanted, and what it told last."""

    __slots__ = ("news", "nudge", "ready", "since", "target", "task")

    def __init__(self, target: T) -> None:
        self.target, self.since = target, monotonic()
        self.news: N | None = None
        self.ready = False
        self.nudge = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    def prepare(self, ready: bool) -> None:
        """Note whether it is known to be up; when it comes up, it is tried at once."""
        if ready and not self.ready:
            self.nudge.set()
        self.ready = ready

    @property
    def idle(self) -> bool:
        """Whether nobody is in conversation with it."""
        return self.task is None or self.task.done()

    def drop(self) -> None:
        """End the conversation."""
        if self.task is not None:
            self.task.cancel()


class Follower(Generic[T, N]):
    """Follows the targets of every key; pass it to `.on`, and `forget` to `.on_deleted`.

    `same` tells words apart: one that is the same as the last wakes nobody.
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
        """Follow these targets of a key, and no others; what each told last, by its name.

        A target that differs from the one of its name before is followed anew. Those in `ready` are
        known to be up: one that was not before is tried at once, and not when its wait is over.
        """
        held = self._held.setdefault(request, {})
        for name in held.keys() - targets.keys():
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
        held[name] = _Followed(target)
        self._new.append((request, name))
        self._changed.set()

    async def _keep(
        self, request: Request, followed: _Followed[T, N], context: SourceContext
    ) -> None:
        pace, pause = self._pace, self._pace.first
        while True:
            if await self._converse(request, followed, context):
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
        with suppress(Unreachable, TransportError, OSError, StopAsyncIteration):
            async with aclosing(self._conversation(followed.target)) as words:
                word = await self._first(words)
                while True:
                    heard = True
                    if followed.news is None or not self._same(followed.news, word):
                        followed.news = word
                        context.queue.add(request)
                    word = await anext(words)
        return heard

    async def _first(self, words: AsyncGenerator[N, None]) -> N:
        # A silent target must not keep its place among those that are being opened.
        async with self._opening, asyncio.timeout(self._pace.patience):
            return await anext(words)


async def _rest(nudge: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await nudge.wait()
    nudge.clear()
