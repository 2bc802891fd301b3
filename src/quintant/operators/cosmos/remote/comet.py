"""The cache of what nodes answer: asked in the background, every five seconds, whatever is read.

    cache controller ──follow(key, pods)──> Follower ──a task per pod──> GET /status
    other readers    ──find(pod)──────────> items                            │
    FullNode's queue <──key── when what is known of a node changes ──────────┘

An item belongs to the uid of a pod: of its successor of the same name nothing is known yet.
Reading it asks no node anything. A pod that becomes ready is asked at once: its node has just got
in sync, and a rolling update waits for that.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping
from typing import NamedTuple

from quintant.core.clock import Clock, SystemClock
from quintant.core.object import Request
from quintant.operators.cosmos.observed.comet import (
    CometItem,
    NodeTarget,
    SyncState,
    answered,
    failed,
    state_of,
)
from quintant.operators.cosmos.remote import (
    NodeConnection,
    NodeRemote,
    NodeUnreachable,
    ask_status,
)
from quintant.runtime.source.follower import Follower, Pace

POLL_SECONDS = 5.0
MOST_AT_ONCE = 256
"""Questions under way at once: more would need too many sockets."""


class NodeNews(NamedTuple):
    """What of an answer wakes the controller of its CosmosFullNode."""

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
        self._asking = asyncio.Semaphore(MOST_AT_ONCE)
        self.news: Follower[NodeTarget, NodeNews] = Follower(
            self._converse,
            pace=Pace(first=POLL_SECONDS, cap=POLL_SECONDS, every=POLL_SECONDS),
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

        `marks` are the heights, by uid, at which that controller is woken; those in `ready` are
        asked at once if they were not ready before.
        """
        self._clock = clock
        for uid in self._wanted.get(request, frozenset()) - targets.keys():
            self._items.pop(uid, None)
            self._marks.pop(uid, None)
            self._invalid.discard(uid)
        self._marks.update(marks)
        self._wanted[request] = frozenset(targets)
        if not targets:
            del self._wanted[request]
        self.news.want(request, targets, ready=ready)

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
        except Exception as error:
            # The follower owns recovery; what the node said before is not to be believed meanwhile.
            before, what = self._items.get(target.uid), type(error).__name__
            self._items[target.uid] = failed(before, f"unreadable: {what}", self._clock.now())
            raise
        finally:
            await connection.close()

    async def _ask(self, connection: NodeConnection, target: NodeTarget) -> CometItem:
        before = self._items.get(target.uid)
        try:
            async with self._asking:
                status = await ask_status(connection)
        except NodeUnreachable as error:
            return failed(before, str(error), self._clock.now())
        return answered(before, status, target.chain, self._clock.now())
