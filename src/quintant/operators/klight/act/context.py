"""What one reconcile works with: reads of the caches, calls to many peers, and its memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from quintant.core.clock import monotonic, timestamp
from quintant.core.object import Request
from quintant.operators.klight.act.record_writer import RecordWriter
from quintant.operators.klight.api import LightNetwork, PeerPod
from quintant.operators.klight.metrics import KlightMetrics
from quintant.operators.klight.observe.memory import Memory
from quintant.operators.klight.observe.view import Observed, Peer, contested, peer_of, same, view
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.join_result import Health
from quintant.operators.klight.remote.peers import Peers
from quintant.operators.klight.rules import EVERYWHERE, network_of, object_name
from quintant.runtime.controller.context import KeyContext
from quintant.wire.peeradmin import Status

BY_NETWORK = "klight/network"
BY_RECORD = "klight/record"
BY_ADDRESS = "klight/address"
"""The indexes of the pods: by label, by the network of their record, by where they listen."""
# Pods that keep coming delay the founding of their network by so many quiet spells at most.
SPELLS = 10

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shared:
    """What all networks of a controller share."""

    options: Options
    peers: Peers
    metrics: KlightMetrics
    calls: asyncio.Semaphore
    """How many peers are asked at once."""


@dataclass(frozen=True, slots=True)
class JoinContext:
    """The means of one reconcile of one network."""

    key: Request
    ctx: KeyContext
    shared: Shared
    memory: Memory
    began: datetime
    """When this process first looked at anything."""

    @property
    def options(self) -> Options:
        return self.shared.options

    @property
    def peers(self) -> Peers:
        return self.shared.peers

    @property
    def metrics(self) -> KlightMetrics:
        return self.shared.metrics

    @property
    def hand(self) -> RecordWriter:
        return RecordWriter(self.ctx, self.memory)

    @property
    def place(self) -> Request:
        """Where the network's LightNetwork is."""
        spans = self.key.namespace == EVERYWHERE
        return Request(
            object_name(self.key.name), self.options.home if spans else self.key.namespace
        )

    async def read(self) -> Observed:
        """The network as the caches show it."""
        pods = await self._pods(BY_NETWORK, str(self.key))
        recorded = await self._pods(BY_RECORD, str(self.key))
        peers = [peer for pod in pods if (peer := self._peer(pod)) is not None]
        owners = {peer.address: await self._pods(BY_ADDRESS, peer.address) for peer in peers}
        leavers = [pod for pod in recorded if not self._mine(pod)]
        return view(self.key, peers, leavers, owners.__getitem__)

    async def lightnetwork(self) -> LightNetwork | None:
        """The object that shows the network, if there is one."""
        return await self.ctx.client.find(LightNetwork, *self.place)

    async def still(self, peer: Peer) -> bool:
        """Whether a pod is still the peer it was: same life, same address, same network."""
        pod = await self.ctx.client.find(PeerPod, *peer.key)
        now = self._peer(pod) if pod is not None else None
        if now is None or now.uid != peer.uid or now.network != peer.network:
            return False
        rivals = await self._pods(BY_ADDRESS, now.address)
        unchanged = (now.incarnation, now.address) == (peer.incarnation, peer.address)
        return unchanged and not contested(now, lambda _: rivals).obstacle

    async def checks(self, peers: Sequence[Peer], within: float) -> list[Health]:
        """How several peers are, asked at once."""
        return await self._each([self.peers.check(peer.address, within) for peer in peers])

    async def statuses(self, peers: Sequence[Peer], within: float) -> list[Status | None]:
        """How several peers of our own are, asked at once."""
        return await self._each([self.peers.status(peer.address, within) for peer in peers])

    def older(self, peer: Peer) -> bool:
        """Whether a pod was there before this process: somebody else may have joined it."""
        return (peer.pod.metadata.creation_timestamp or "") < timestamp(self.began)

    def unrest(self) -> float:
        """Seconds until the pods of the network have been still long enough to found it."""
        quiet, memory = self.options.found_after, self.memory
        calm = min(memory.still + quiet, memory.born + SPELLS * quiet)
        return calm - monotonic()

    def _peer(self, pod: PeerPod) -> Peer | None:
        uid, memory = pod.metadata.uid, self.memory
        known = memory.faces.get(uid)
        if known is not None and known.pod is pod and uid not in memory.unsaved:
            return known
        peer = peer_of(pod, self.options, memory.unsaved)
        if peer is not None and uid not in memory.unsaved:
            memory.faces[uid] = peer
        return peer

    def _mine(self, pod: PeerPod) -> bool:
        network = network_of(pod, self.options)
        return network is not None and same(str(self.key), network)

    async def _pods(self, index: str, value: str) -> Sequence[PeerPod]:
        return await self.ctx.client.list(PeerPod, index=(index, value))

    async def _each(self, calls: Sequence[Awaitable[T]]) -> list[T]:
        async def one(call: Awaitable[T]) -> T:
            async with self.shared.calls:
                return await call

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(call)) for call in calls]
        return [task.result() for task in tasks]
