"""Members of one group on an embedded server: coordinators, and what each was told to do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from quintant.api.coordination import Lease
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport, Transport
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import LoopClock, Random, monotonic
from quintant.core.object import Request
from quintant.runtime.leader.lease_client import LeaseClient
from quintant.runtime.shard.coordinator import Coordinator
from quintant.runtime.shard.group_lease import MAP, ShardGroup
from quintant.runtime.shard.layout import LEADER, by_key
from quintant.runtime.shard.owned_ranges import OwnedRanges, ShardedController
from quintant.runtime.shard.range_states import RangeState
from quintant.runtime.shard.shard_map import ShardMap, decode_map
from quintant.runtime.shard.shard_metrics import ShardMetrics
from quintant.testing.faults.transport import FaultTransport
from quintant.testing.loop import advance, settle

GROUP, RANGES, GRACE = "harbour", 8, 10.0
FIRST_SECONDS = 24.0
"""A new map works after 17 s, and members that join count after 5 s of quiet."""


class Work:
    """A RangeWork that remembers what it was told."""

    def __init__(self) -> None:
        self.begun: list[frozenset[int]] = []
        self.forgotten: list[frozenset[int]] = []
        self.members = 0
        self.filled = asyncio.Event()
        self.filled.set()

    async def fill(self) -> None:
        await self.filled.wait()

    def held(self, ranges: frozenset[int]) -> None:
        if ranges:
            self.begun.append(ranges)

    def evict(self, ranges: frozenset[int]) -> None:
        self.forgotten.append(ranges)

    def divide(self, members: int) -> None:
        self.members = members


class UnderWay:
    """A key that is worked on until it ends, whatever it is told."""

    def __init__(self, owned: OwnedRanges, key: Request) -> None:
        self.key, self._told, self._owned = key, False, owned
        self._fence_key = owned.of("ship").begin(key, self._cancel)

    def end(self) -> None:
        assert self._fence_key is not None, "it was begun"
        self._owned.end(self._fence_key, self.key)

    def was_cancelled(self) -> bool:
        return self._told

    def _cancel(self) -> None:
        self._told = True


class Member:
    """One process: its coordinator, its work, and its own way to the server."""

    def __init__(self, server: Transport, seed: int, layout: str = "x") -> None:
        self.faults, self.work = FaultTransport(server), Work()
        self.slept = 0.0
        self.owned = OwnedRanges(RANGES, [ShardedController("ship", by_key)])
        self.metrics = ShardMetrics(self.owned)
        self.coordinator = Coordinator(
            LeaseClient(Rest(self.faults), "default"),
            ShardGroup(GROUP, layout, RANGES, GRACE),
            self.owned,
            self.work,
            self.metrics,
            clock=LoopClock(),
            boottime=lambda: monotonic() + self.slept,
            random=Random(seed),
            holder=f"host_{seed}",
        )
        self.task = asyncio.create_task(self.coordinator.run())
        self.task.add_done_callback(lambda task: task.cancelled() or task.exception())
        self.coordinator.set_ready()

    @property
    def id(self) -> str:
        return self.coordinator.id

    def held(self) -> set[int]:
        """The ranges at work here, the leader's among them."""
        return set(self.owned.within((RangeState.HELD,)))

    def count(self) -> int:
        return len(self.held() - {LEADER})

    def begin(self) -> UnderWay:
        """Begin to reconcile a key that is held here."""
        keys = (Request(f"s{number}", "sea") for number in range(1000))
        key = next(k for k in keys if self.owned.range_of("ship", k) in self.held())
        return UnderWay(self.owned, key)

    async def leave(self) -> None:
        """Stop in order."""
        self.coordinator.set_leaving()
        await self.coordinator.wait_released()
        await self.die()
        await self.coordinator.end()

    async def die(self) -> None:
        """Stop without a word."""
        self.task.cancel()
        await asyncio.wait({self.task})


class Group:
    """A server, its members, and somebody else who reads and writes Leases."""

    def __init__(self) -> None:
        self.server = InProcessTransport(ApiServer(clock=LoopClock(), random=Random(1)))
        self.others = LeaseClient(Rest(self.server), "default")
        self.members: list[Member] = []

    def join(self, layout: str = "x") -> Member:
        member = Member(self.server, len(self.members) + 1, layout)
        self.members.append(member)
        return member

    async def lease(self, name: str = GROUP) -> Lease:
        found = await self.others.read(name)
        assert found is not None
        return found

    async def shards(self) -> ShardMap:
        """The map as it is written down."""
        return decode_map((await self.lease()).metadata.annotations[MAP])

    async def change(self, lease: Lease, change: Lease) -> None:
        """Somebody writes a Lease."""
        await self.others.patch(lease, change)

    async def close(self) -> None:
        for member in self.members:
            await member.die()


@asynccontextmanager
async def a_group(members: int = 1) -> AsyncIterator[Group]:
    """A group of so many members at work."""
    group = Group()
    for _ in range(members):
        group.join()
    await settle()
    if members:
        await advance(FIRST_SECONDS)
    try:
        yield group
    finally:
        await group.close()
