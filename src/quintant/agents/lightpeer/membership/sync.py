"""Catching up: taking over the chain of another peer, as far as ours does not have it.

Chains that share a block share all before it, so blocks are fetched from the newest down to the
first that is ours, put on the disk as they come, and only then does the chain turn to them. What
clients wrote on the branch that is left becomes `lost`, and is written again (rewrite_lost.py).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import Final

from quintant.agents.lightpeer.chain.block import Unsound, check
from quintant.agents.lightpeer.chain.chain import Link, link
from quintant.agents.lightpeer.disk.chain_store import ChainStore
from quintant.agents.lightpeer.membership.join_attempt import JoinAttempt
from quintant.agents.lightpeer.membership.membership import Liveness, MemberList
from quintant.agents.lightpeer.rpc.calls import Failed, JoinFailure, refusal
from quintant.wire.lightpeer import (
    CONNECT_NEW_PEER,
    BlockType,
    ConnectRequest,
    Lightblock,
)
from quintant.wire.peeradmin import GET_BLOCKS, BlocksRequest

CALM_SECONDS = 0.1
"""How long to wait for news if there is nothing to fetch."""
STREAM_SECONDS = 600.0
"""How long a whole chain may take."""
IDLE_SECONDS = 5.0
"""How long the next block may take; a peer that hangs is left."""
OPEN_SECONDS = 4.0
"""How long who wants to join a peer that joins itself waits; it would not wait for IDLE_SECONDS."""
WELCOME_SECONDS = 10.0
"""How long the peer to which a join gave way may take to become a member."""
BATCH_BYTES = 1_000_000
"""So much is held in memory before it is written."""
BATCH_BLOCKS = 512

log: Final = logging.getLogger("lightpeer")


class Sync:
    """Fetches chains, one at a time."""

    def __init__(self, store: ChainStore, membership: MemberList) -> None:
        self.store = store
        self.membership = membership
        self._settled = asyncio.Event()
        self._settled.set()
        self._attempt: JoinAttempt | None = None
        self._turn = asyncio.Lock()

    async def pull(self, address: str, unless: Callable[[], bool] = lambda: False) -> bool:
        """Take over the chain of a peer of ours, if it is the better one; whether it was.

        A peer without a chain takes over nothing: it has to be asked to join.
        """
        async with self._turn:
            if unless():
                return True
            if not self.store.chain:
                return False
            seen = await self.membership.look(address)
            if seen.card is None or seen.liveness is not Liveness.OURS:
                return False
            if not seen.card.beats(self.store.card):
                return False
            return await self._take(address, connect=False, keep=True, force=False)

    async def catch(self, address: str) -> bool:
        """Have what another peer has; from one of another make, it comes by itself or not."""
        with suppress(Failed):
            if await self.pull(address):
                return True
        head = self.store.chain.head
        return await self.store.until(lambda: self.store.chain.head != head, CALM_SECONDS)

    async def join(self, address: str, *, merge: bool) -> None:
        """Become a member of the network of the peer at an address, and take over its chain.

        If that peer joins this one at the same time, one of them gives way: it is a member
        once the other has joined it.
        """
        async with self._turn:
            seen = await self.membership.look(address)
            mine = self.store.card
            if seen.card is not None and seen.card.head == mine.head and self.store.listed:
                return
            same = seen.card is not None and mine.root != "" and seen.card.root == mine.root
            attempt = await self._join(address, keep=merge or same)
        if attempt.gave_way and not await self._welcomed(address):
            raise refusal(f"{address} was joining this peer, and has not", JoinFailure.BROKEN)

    async def open_to(self, joiner: str) -> None:
        """Wait until this peer knows which network it is in; a joiner may be given way to."""
        if self._attempt is not None:
            self._attempt.meet(joiner)
        await self.settled(OPEN_SECONDS)
        if not self._settled.is_set():
            raise refusal("the peer is joining a network itself")

    async def settled(self, seconds: float) -> None:
        """Wait while this peer joins a network: which chain it will have is open until then."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._settled.wait()

    async def _join(self, address: str, *, keep: bool) -> JoinAttempt:
        self._settled.clear()
        attempt = self._attempt = JoinAttempt(self.membership.me, address)
        try:
            async with attempt:
                await self._take(address, connect=True, keep=keep, force=True)
        finally:
            self._attempt = None
            self._settled.set()
        return attempt

    async def _welcomed(self, address: str) -> bool:
        """Whether a peer becomes a member of this network in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(WELCOME_SECONDS):
                while True:
                    if await self._has_joined(address):
                        return True
                    await asyncio.sleep(CALM_SECONDS)
        return False

    async def _has_joined(self, address: str) -> bool:
        if address not in (each.address for each in self.store.members):
            return False
        seen = await self.membership.look(address)
        same = seen.card is not None and seen.card.root == self.store.root
        return seen.liveness is Liveness.OPAQUE or same

    async def _take(self, address: str, *, connect: bool, keep: bool, force: bool) -> bool:
        try:
            base, links = await self._fetch(self._blocks(address, connect))
        except Unsound as error:
            text = f"{address} sent a block that cannot be used: {error}"
            raise refusal(text, JoinFailure.INVALID) from error
        if self.store.truncated and not any(each.id in self.store.chain for each in links):
            raise refusal(f"{address} has another chain", JoinFailure.INVALID)
        if connect and not base and not any(each.type == BlockType.NETWORK for each in links):
            raise refusal(f"{address} sent no members", JoinFailure.INVALID)
        if self._attempt is not None:
            self._attempt.finish()
        taken = await self.store.adopt(base, links, keep=keep, force=force)
        log.log(
            logging.INFO if connect else logging.DEBUG,
            "fetched %d blocks from %s, %d lost",
            len(links),
            address,
            len(self.store.lost),
        )
        return taken

    def _blocks(self, address: str, connect: bool) -> AsyncGenerator[Lightblock, None]:
        dial, metadata = self.membership.dial, self.store.card.metadata()
        if connect:
            return dial.stream(
                address,
                CONNECT_NEW_PEER,
                ConnectRequest(self.store.me),
                seconds=STREAM_SECONDS,
                metadata=metadata,
            )
        return dial.stream(
            address, GET_BLOCKS, BlocksRequest(), seconds=STREAM_SECONDS, metadata=metadata
        )

    async def _fetch(self, stream: AsyncGenerator[Lightblock, None]) -> tuple[str, list[Link]]:
        """The block of ours that the others follow, and the others, oldest first."""
        chain, batch = self.store.chain, _Batch(self.store)
        links: dict[str, Link] = {}
        expected = None
        async for block in _lively(stream):
            if block.id in links or expected not in (None, block.id):
                raise refusal("blocks are not linked to each other", JoinFailure.INVALID)
            if block.id in chain and not self.store.truncated:
                await batch.flush()
                return block.id, list(reversed(links.values()))
            links[block.id], expected = link(check(block)), block.previous
            await batch.add(block)
        if expected != "":
            raise refusal("the chain is not complete", JoinFailure.INVALID)
        await batch.flush()
        return "", list(reversed(links.values()))


class _Batch:
    """Blocks on their way to the disk."""

    def __init__(self, store: ChainStore) -> None:
        self._book = store
        self._blocks: list[Lightblock] = []
        self._size = 0

    async def add(self, block: Lightblock) -> None:
        self._blocks.append(block)
        self._size += len(block.payload)
        if len(self._blocks) >= BATCH_BLOCKS or self._size >= BATCH_BYTES:
            await self.flush()

    async def flush(self) -> None:
        if self._blocks:
            await self._book.stage(self._blocks)
            self._blocks, self._size = [], 0


async def _lively(stream: AsyncGenerator[Lightblock, None]) -> AsyncGenerator[Lightblock, None]:
    """The blocks of a stream, while each comes in time."""
    async with aclosing(stream) as blocks:
        while True:
            try:
                async with asyncio.timeout(IDLE_SECONDS):
                    block = await anext(blocks)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise refusal("the next block did not come in time", JoinFailure.BROKEN) from None
            yield block
