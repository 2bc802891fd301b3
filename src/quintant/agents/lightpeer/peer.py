"""A lightpeer: what each method of its services does.

It knows neither gRPC nor sockets: requests come as messages with a `Call`, and other peers are
asked through a `Dial`. Refusals are `Failed`; whatever else a peer of another make may send is
checked before anything changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Final

from quintant.agents.lightpeer.chain.block import (
    PAYLOAD_BYTES,
    Unsound,
    check,
    checked_address,
    distinct,
    fresh,
)
from quintant.agents.lightpeer.chain.chain import Link
from quintant.agents.lightpeer.chain.pending import Taken
from quintant.agents.lightpeer.disk.chain_store import ChainStore
from quintant.agents.lightpeer.disk.compaction import compact
from quintant.agents.lightpeer.disk.folder import Disk, Worker
from quintant.agents.lightpeer.disk.store import Store
from quintant.agents.lightpeer.membership.delivery import NOTIFY_SECONDS
from quintant.agents.lightpeer.membership.maintenance import Maintenance
from quintant.agents.lightpeer.membership.membership import MemberList
from quintant.agents.lightpeer.membership.ordering import SETTLE_SECONDS, Ordering
from quintant.agents.lightpeer.membership.rewrite_lost import rewrite_lost
from quintant.agents.lightpeer.membership.sync import Sync
from quintant.agents.lightpeer.rpc.calls import (
    Call,
    Code,
    Counted,
    Dial,
    Failed,
    JoinFailure,
    refusal,
)
from quintant.agents.lightpeer.scope import Scope
from quintant.wire.lightpeer import BlockType, ConnectRequest, Lightblock, PeerInfo
from quintant.wire.peeradmin import LIMIT, ORDER, PROPOSE, SINCE, BlocksRequest, Card

WRITE_SECONDS = 5.0
"""How long a write may take if its client does not say."""
LEAVE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Effects:
    """Everything a peer needs of the world."""

    disk: Disk
    worker: Worker
    dial: Dial
    chance: Random
    now: Callable[[], float]
    """The time of day, in seconds since 1970."""


class Peer:
    """One member of a network, or none yet."""

    def __init__(self, me: PeerInfo, effects: Effects, *, merge: bool = False) -> None:
        self.scope: Scope = Scope()
        self.store: ChainStore = ChainStore(Store(effects.disk), effects.worker, me, self.scope)
        self.dial: Counted = Counted(effects.dial)
        self.membership: MemberList = MemberList(self.store, self.dial, self.scope)
        self.sync: Sync = Sync(self.store, self.membership)
        self.ordering: Ordering = Ordering(
            self.store, self.membership, self.sync, self.scope, effects.chance
        )
        self.maintenance: Maintenance = Maintenance(
            self.membership, self.ordering, self.sync, effects.chance
        )
        self.leaving = False
        self.incarnation: str = fresh(effects.chance)
        self.now: Final = effects.now
        self.started: float = effects.now()
        self._merge = merge
        self._chance = effects.chance

    async def open(self) -> None:
        """Read the chain from the disk."""
        await self.store.open()

    async def run(self) -> None:
        """Tend the network until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.maintenance.run())
            group.create_task(compact(self.store))
            group.create_task(rewrite_lost(self.store, self.ordering, self._chance))

    @property
    def serving(self) -> bool:
        """Whether clients and members should rely on this peer.

        Not if its disk lost a part of the chain, and there is no other member to have it from.
        """
        harmed = bool(self.store.damage) and not self.membership.others
        return not self.leaving and not self.store.broken and not harmed

    async def persist(self, payload: bytes, seconds: float | None = None) -> None:
        """Keep something on every member."""
        if len(payload) > PAYLOAD_BYTES:
            raise Failed(Code.INVALID_ARGUMENT, f"the payload is longer than {PAYLOAD_BYTES} bytes")
        limit = WRITE_SECONDS if seconds is None else min(seconds, WRITE_SECONDS)
        await self.ordering.write(fresh(self._chance), payload, limit)

    async def query(self, call: Call) -> AsyncGenerator[bytes, None]:
        """What clients wrote, newest first unless the call says otherwise."""
        chain = self.store.chain
        since = call.metadata.get(SINCE, "")
        if since and since not in chain:
            raise refusal(f"there is no block {since[:80]!r}")
        oldest = call.metadata.get(ORDER) == "oldest"
        links = chain.after(since) if oldest else chain.down(chain.head, since)
        clients = (each for each in links if each.type == BlockType.CLIENT)
        async for block in self._blocks(islice(clients, _limit(call.metadata.get(LIMIT, "")))):
            yield block.payload

    async def notify(self, block: Lightblock, call: Call) -> str:
        """Take over a block that another peer tells of, or order one that it proposes."""
        _checked(block)
        self.membership.hear(call.card)
        if call.card is not None and PROPOSE in call.metadata:
            return await self.ordering.accept(block, call.card)
        await self._receive(block, call.card)
        return ""

    async def take(self, blocks: Sequence[Lightblock], call: Call) -> None:
        """Take over what another member of this network sends, as far as it follows our chain."""
        for block in blocks:
            _checked(block)
        await self.sync.settled(NOTIFY_SECONDS)
        self.membership.hear(call.card)
        if call.card is not None and self.store.chain and call.card.root == self.store.root:
            await self.store.take_all(blocks)

    async def join(self, address: str) -> None:
        """Become a member of the network of another peer."""
        if self._address(address) == self.store.me.address:
            raise refusal("a peer cannot join itself", JoinFailure.INVALID)
        if self.leaving:
            raise refusal("the peer is leaving")
        try:
            await self.sync.join(address, merge=self._merge)
        except Failed as failure:
            raise _unjoined(failure) from failure

    async def connect(
        self, request: ConnectRequest, call: Call
    ) -> AsyncGenerator[Lightblock, None]:
        """Make a peer a member, and tell it the chain, newest block first."""
        if request.peer is None:
            raise refusal("the request names no peer")
        address = self._address(request.peer.address)
        self._admit(address, call.card)
        await self.sync.open_to(address)
        self.membership.dead.discard(address)
        await self._add(request.peer)
        chain = self.store.chain
        newest = chain.head
        async for block in self._blocks(chain.down(newest)):
            yield block
        self.ordering.broadcast.follow(address, newest)

    async def blocks(self, request: BlocksRequest) -> AsyncGenerator[Lightblock, None]:
        """Blocks of the chain, newest first."""
        chain = self.store.chain
        start = request.start or chain.head
        if start and start not in chain:
            raise refusal(f"there is no block {start[:80]!r}")
        links = chain.down(start, request.until)
        async for block in self._blocks(islice(links, request.limit or None)):
            yield block

    async def leave(self) -> None:
        """Be no member any more, and do not become one again by yourself."""
        self.maintenance.resting = True
        if self.store.listed and self.membership.others:
            me = self.store.me.address
            await self.ordering.change(
                lambda members: (
                    tuple(each for each in members if each.address != me)
                    if self.store.listed
                    else members[:0]
                ),
                LEAVE_SECONDS,
            )

    async def reset(self) -> None:
        """Leave, and begin again with an empty chain; others will notice by themselves."""
        with suppress(Failed):
            await self.leave()
        await self.store.reset()
        self.maintenance.resting = False

    def _admit(self, address: str, card: Card | None) -> None:
        """Refuse a peer that cannot become a member."""
        if address == self.store.me.address:
            raise refusal("a peer cannot connect to itself")
        if self.leaving:
            raise refusal("the peer is leaving")
        mine = self.store.network
        if mine and card is not None and card.network and card.network != mine:
            raise refusal(f"this is network {mine}, not {card.network}")

    def _address(self, address: str) -> str:
        try:
            return checked_address(address)
        except Unsound as error:
            raise refusal(str(error), JoinFailure.INVALID) from None

    async def _add(self, joiner: PeerInfo) -> None:
        """Make a peer a member; one that is a member keeps its place."""
        await self.ordering.change(lambda members: distinct((*members, joiner)), WRITE_SECONDS)

    async def _receive(self, block: Lightblock, card: Card | None) -> None:
        """Take over a block, and what it follows if that is missing."""
        store = self.store
        await self.sync.settled(NOTIFY_SECONDS)
        if await store.take(block) is not Taken.APART:
            return
        await store.until(lambda: store.chain.has(block.previous, block.id), SETTLE_SECONDS)
        if await store.take(block) is not Taken.APART:
            return
        if card is not None:
            with suppress(Failed):  # Then the block is still apart, and the answer no.
                await self.sync.pull(card.address, lambda: block.id in store.chain)
        if await store.take(block) is Taken.APART:
            raise refusal("new block links to invalid parent")

    async def _blocks(self, links: Iterable[Link]) -> AsyncGenerator[Lightblock, None]:
        left = [each.id for each in links]
        while left:
            some = await self.store.some(left)
            for block in some:
                yield block
            del left[: len(some)]


def _checked(block: Lightblock) -> None:
    try:
        check(block)
    except Unsound as error:
        raise refusal(str(error)) from None


def _unjoined(failure: Failed) -> Failed:
    """What the joiner answers: the caller did reach it, so the code must say no more than no."""
    if failure.reason is not None:
        return failure
    reason = JoinFailure.REFUSED if failure.refused else JoinFailure.UNREACHABLE
    return refusal(f"could not connect new peer: {failure.text}", reason)


def _limit(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 10 else None
