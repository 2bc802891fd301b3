"""The cache of what nodes say: asked in the background, every five seconds, whoever reads.

    cache controller ──follow(key, pods)──> Follower ──a task per pod──> GET /status
    everybody else   ──find(pod)──────────> items                            │
    FullNode's queue <──key── when what is known of a node changes ──────────┘

An item belongs to the uid of a pod: its successor of the same name is nobody yet. Reading it asks
no node anything. A pod that becomes ready is asked at once: its node has just got in sync, and a
rolling update waits for that.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping
from typing import NamedTuple

from quintant.core.clock import Clock, SystemClock
from quintant.core.object import Request
from quintant.operators.cosmos.cache.plan import CometItem, SyncState, answered, failed, state_of
from quintant.operators.cosmos.remote import (
    NodeConnection,
    NodeRemote,
    NodeUnreachable,
    ask_status,
)
from quintant.runtime.controller.follower import Follower, Pace

POLL_SECONDS = 5.0
MOST_AT_ONCE = 256
"""Questions under way at once: more would need too many sockets."""


class NodeTarget(NamedTuple):
    """A node to be asked."""

    uid: str
    address: str
    port: int
    chain: str
    """What its network should be called."""


class NodeNews(NamedTuple):
    """What of an answer is worth waking somebody for."""

    state: SyncState
    error: str
    passed: bool
    """Whether the height is reached at which another version begins."""


class CometCache:
    """What every node said last, by the uid of its pod."""

    def __init__(self, remote: NodeRemote) -> None:
        self._remote = remote
        self._clock: Clock = SystemClock()
        self._items: dict[str, CometItem] = {}
        self._wanted: dict[Request, frozenset[str]] = {}
        self._marks: dict[str, int] = {}
        self._invalid: set[str] = set()
        self._ready: dict[Request, frozenset[str]] = {}
        self._pauses: dict[str, asyncio.Future[None]] = {}
        """Until each node is asked again."""
        self._asking = asyncio.Semaphore(MOST_AT_ONCE)
        self.news: Follower[NodeTarget, NodeNews] = Follower(
            self._converse, pace=Pace(first=POLL_SECONDS, cap=POLL_SECONDS)
        )
        """The source that wakes the controller of CosmosFullNodes."""

    def follow(
        self,
        request: Request,
        targets: Mapping[str, NodeTarget],
        marks: Mapping[str, int],
        clock: Clock,
        ready: Collection[str] = (),
    ) -> None:
        """Ask these nodes of a CosmosFullNode from now on, and no others.

        `marks` are the heights, by uid, at which somebody wants to be woken; those in `ready` are
        asked at once if they were not ready before.
        """
        self._clock = clock
        self._hasten(request, frozenset(ready))
        for uid in self._wanted.get(request, frozenset()) - targets.keys():
            self._items.pop(uid, None)
            self._marks.pop(uid, None)
            self._invalid.discard(uid)
        self._marks.update(marks)
        self._wanted[request] = frozenset(targets)
        if not targets:
            del self._wanted[request]
            del self._ready[request]
        self.news.want(request, targets)

    def forget(self, request: Request) -> None:
        """Ask nothing for a CosmosFullNode any more: it is gone."""
        self.follow(request, {}, {}, self._clock)

    def find(self, uid: str) -> CometItem | None:
        """What is known of a pod's node; None if nothing is, or it is about to go."""
        return None if uid in self._invalid else self._items.get(uid)

    def invalidate(self, uid: str) -> None:
        """Believe nothing more of a pod: it is being deleted."""
        self._invalid.add(uid)

    async def _converse(self, target: NodeTarget, /) -> AsyncGenerator[NodeNews, None]:
        connection = self._remote.connect(target.address, target.port)
        try:
            while True:
                item = await self._ask(connection, target)
                self._items[target.uid] = item
                mark = self._marks.get(target.uid, 0)
                passed = bool(mark) and item.height is not None and item.height + 1 >= mark
                yield NodeNews(state_of(item), item.error, passed)
                await self._pause(target.uid)
        finally:
            await connection.close()

    def _hasten(self, request: Request, ready: frozenset[str]) -> None:
        """Ask those at once that have become ready."""
        for uid in ready - self._ready.get(request, frozenset()):
            _end_pause(self._pauses.get(uid))
        self._ready[request] = ready

    async def _pause(self, uid: str) -> None:
        """Wait until it is time to ask again. A sleep that others can end, and as cheap as one."""
        loop = asyncio.get_running_loop()
        pause = self._pauses[uid] = loop.create_future()
        timer = loop.call_later(POLL_SECONDS, _end_pause, pause)
        try:
            await pause
        finally:
            timer.cancel()
            self._pauses.pop(uid, None)

    async def _ask(self, connection: NodeConnection, target: NodeTarget) -> CometItem:
        before = self._items.get(target.uid)
        try:
            async with self._asking:
                status = await ask_status(connection)
        except NodeUnreachable as error:
            return failed(before, str(error), self._clock.now())
        return answered(before, status, target.chain, self._clock.now())


def _end_pause(pause: asyncio.Future[None] | None) -> None:
    if pause is not None and not pause.done():
        pause.set_result(None)
