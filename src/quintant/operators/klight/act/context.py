"""What one reconcile of one network works with, beside the runtime's own context."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from quintant.core.object import Request
from quintant.operators.klight.act.record_writer import RecordWriter
from quintant.operators.klight.api import PeerPod
from quintant.operators.klight.metrics import KlightMetrics
from quintant.operators.klight.observe.memory import Memory
from quintant.operators.klight.observe.reader import ViewReader
from quintant.operators.klight.observe.view import Observed, PeerView
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.join_result import PeerHealth
from quintant.operators.klight.remote import Peers
from quintant.runtime.controller.context import KeyContext
from quintant.wire.peeradmin import StatusResponse

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JoinContext:
    """The means to observe a network, to ask its peers, and to write down what came of it."""

    ctx: KeyContext
    options: Options
    peers: Peers
    metrics: KlightMetrics
    memory: Memory
    limit: asyncio.Semaphore
    """How many peers are asked at once, over all networks."""
    began: datetime
    """When this process first looked at anything."""

    @property
    def key(self) -> Request:
        """The network."""
        return self.ctx.request

    @property
    def reader(self) -> ViewReader:
        return ViewReader(self.key, self.ctx.client, self.options, self.memory)

    @property
    def writer(self) -> RecordWriter:
        return RecordWriter(self.ctx, self.memory)

    async def observe(self, newer: Sequence[PeerPod] = ()) -> Observed:
        """The network as the caches show it now; `newer` are pods that they may lack."""
        return await self.reader.observe(newer)

    async def checks(
        self, peers: Sequence[PeerView], within: float
    ) -> list[tuple[PeerView, PeerHealth]]:
        """How several peers are, asked at once."""
        return await self._each(self.peers.check, peers, within)

    async def statuses(
        self, peers: Sequence[PeerView], within: float
    ) -> list[tuple[PeerView, StatusResponse | None]]:
        """How several peers of our own are, asked at once; None for any other, and for silence."""
        return await self._each(self.peers.status, peers, within)

    async def newest(
        self, peers: Sequence[PeerView], within: float
    ) -> list[tuple[PeerView, bytes]]:
        """What was written last to several peers, asked at once."""
        return await self._each(self.peers.newest, peers, within)

    async def _each(
        self,
        ask: Callable[[str, float], Awaitable[T]],
        peers: Sequence[PeerView],
        within: float,
    ) -> list[tuple[PeerView, T]]:
        async def one(peer: PeerView) -> tuple[PeerView, T]:
            async with self.limit:
                return peer, await ask(peer.address, within)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(peer)) for peer in peers]
        return [task.result() for task in tasks]
