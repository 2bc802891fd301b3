"""The peer's own chain: in memory and on the disk, changed by one hand at a time.

The lock is held for a write to the disk and never during a call to another peer, so peers cannot
wait for each other in a circle. Nothing is in the chain before it is on the disk. Writers that meet
at the lock share one write (see `chain.pending`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from quintant.agents.lightpeer.chain.block import members_in
from quintant.agents.lightpeer.chain.chain import Chain, Link, link
from quintant.agents.lightpeer.chain.pending import (
    Decide,
    Entry,
    Pending,
    Taken,
    order,
    take,
    take_all,
)
from quintant.agents.lightpeer.disk.block_cache import BlockCache
from quintant.agents.lightpeer.disk.damage import Damage
from quintant.agents.lightpeer.disk.folder import Worker
from quintant.agents.lightpeer.disk.store import Store
from quintant.agents.lightpeer.rpc.calls import Failed, refusal
from quintant.agents.lightpeer.scope import Scope
from quintant.wire.lightpeer import BlockType, Lightblock, PeerInfo
from quintant.wire.peeradmin import Card

T = TypeVar("T")

FAILURES = 3
"""So many failed writes in a row, and the peer says that it does not serve."""
CLOSE_SECONDS = 3.0
"""How long files may be made at an orderly end; what has none then is in the journal next time."""
CLOSE_BLOCKS = 1024
"""So many files are made at once at the end."""

log: Final = logging.getLogger("lightpeer")


class ChainStore:
    """The chain, and the members it lists."""

    def __init__(self, store: Store, worker: Worker, me: PeerInfo, scope: Scope) -> None:
        self.files = store
        self.me = me
        self.chain: Chain = Chain()
        self.truncated: bool = False
        self.lost: tuple[str, ...] = ()
        self.network: str = ""
        self.damage: Damage = Damage()
        """What the disk has lost of the chain, until another member has brought it back."""
        self.failures: int = 0
        self._worker = worker
        self._scope = scope
        self._lock = asyncio.Lock()
        self._news = asyncio.Event()
        self._entries: list[Entry[Any]] = []
        self._list: tuple[PeerInfo, ...] = ()
        self._cache = BlockCache()

    async def open(self) -> None:
        """Read what the disk has."""
        found = await self._worker(lambda: self.files.load(self.me.address))
        self.chain, self.truncated = found.chain, found.truncated
        self.lost, self.network, self.damage = found.lost, found.network, found.damage
        self._list = await self._listed(found.members)

    async def compact(self, count: int) -> None:
        """Give a few blocks their files."""
        if self.files.pending:
            await self._write(lambda: self.files.compact(count))

    async def close(self) -> None:
        """Leave the disk as every lightpeer understands it, with no journal, if time allows."""
        loop = asyncio.get_running_loop()
        until = loop.time() + CLOSE_SECONDS
        while self.files.pending and loop.time() < until:
            await self.compact(CLOSE_BLOCKS)
        if self.files.pending:
            log.info("%d blocks stay in the journal", self.files.pending)

    @property
    def members(self) -> tuple[PeerInfo, ...]:
        """The members in order; this peer is among them, if only at the end."""
        return self._list if self.listed else (*self._list, self.me)

    @property
    def listed(self) -> bool:
        """Whether the chain says that this peer is a member."""
        return any(each.address == self.me.address for each in self._list)

    @property
    def card(self) -> Card:
        """Who we are, and which chain we have."""
        chain = self.chain
        return Card(
            self.me.address, self.root, chain.head, chain.networks, chain.clients, self.network
        )

    @property
    def root(self) -> str:
        """The oldest block; empty if there is none, or the oldest ones are missing."""
        return "" if self.truncated else self.chain.root

    async def until(self, true: Callable[[], bool], seconds: float) -> bool:
        """Wait until something holds of the chain; False if it does not in time."""
        try:
            async with asyncio.timeout(seconds):
                while not true():
                    await self._news.wait()
        except TimeoutError:
            return true()
        return True

    async def take(self, block: Lightblock) -> Taken:
        """Take over a block that follows our newest one."""
        return await self._scope.finish(self._enter(lambda pending: take(pending, block)))

    async def take_all(self, blocks: Sequence[Lightblock]) -> None:
        """Take over those of some blocks that follow our newest one, or each other."""
        await self._scope.finish(self._enter(lambda pending: take_all(pending, blocks)))

    async def order(self, block: Lightblock, *, stale: bool = True) -> Lightblock | None:
        """Make a block the newest, whatever was newest before; the block as it is linked.

        None if what it holds is here already. With `stale` False, only while members are the same
        as after the block it was meant to follow.
        """
        return await self._scope.finish(self._enter(lambda pending: order(pending, block, stale)))

    async def order_all(self, blocks: Sequence[Lightblock]) -> None:
        """Make blocks the newest, one after the other, by one write."""

        def decide(pending: Pending) -> None:
            for each in blocks:
                order(pending, each, True)

        await self._scope.finish(self._enter(decide))

    async def adopt(self, base: str, links: Sequence[Link], *, keep: bool, force: bool) -> bool:
        """Turn to another chain: ours up to `base`, then `links`, which are on the disk already.

        With `keep`, what clients wrote above `base` becomes `lost`: the other chain shall take it
        over. False if meanwhile ours is as good, unless `force` says to turn to it nevertheless.
        """
        return await self._scope.finish(self._adopt(base, links, keep, force))

    async def reset(self) -> None:
        """Begin again with an empty chain; files stay."""
        await self._scope.finish(self._reset())

    async def call(self, network: str) -> None:
        """Remember the name of the network."""
        await self._write(lambda: self.files.name(network))
        self.network = network

    async def found(self, done: Iterable[str]) -> None:
        """Remember that the chain has taken over what was lost."""
        left = tuple(each for each in self.lost if each not in set(done))
        await self._write(lambda: self.files.lose(left))
        self.lost = left

    async def seen(self, head: str) -> None:
        """Take note of the newest block of another member: what it has may be what was missing."""
        chain = self.chain
        if not self.damage or self.truncated or self.lost or head not in chain:
            return
        if all(map(chain.held, self.damage.missing)):
            await self._write(self.files.mended)
            self.damage = Damage()
            log.info("the chain is whole again: another member had what was damaged here")

    async def retry(self) -> None:
        """Try whether the disk can be written again."""
        await self._write(lambda: self.files.lose(self.lost))

    @property
    def broken(self) -> bool:
        """Whether the disk takes nothing."""
        return self.failures >= FAILURES

    async def get(self, identity: str) -> Lightblock:
        """A block, most often from the disk; Failed if it cannot be read."""
        if (block := self._cache.get(identity)) is not None:
            return block
        try:
            return await self._worker(lambda: self.files.get(identity))
        except OSError as error:
            raise refusal(f"cannot read block {identity} from the disk") from error

    async def some(self, identities: Sequence[str]) -> list[Lightblock]:
        """The first of some blocks, as many as are read at once; Failed if one cannot be."""
        try:
            return await self._worker(lambda: self.files.some(identities))
        except OSError as error:
            raise refusal("cannot read a block from the disk") from error

    async def stage(self, blocks: Sequence[Lightblock]) -> None:
        """Write blocks that our chain does not have yet."""
        await self._write(lambda: self.files.stage(blocks))

    async def _enter(self, decide: Decide[T]) -> T:
        """Add blocks, together with other callers that add some right now."""
        entry = Entry(decide)
        self._entries.append(entry)
        async with self._lock:
            if not entry.done:
                await self._flush()
        return entry.outcome()

    async def _flush(self) -> None:
        entries, self._entries = self._entries, []
        pending = Pending(self.chain)
        for entry in entries:
            entry.decide(pending)
        if pending.blocks:
            height = len(self.chain) + len(pending.blocks)
            try:
                await self._write(lambda: self.files.append(pending.blocks, height))
            except Failed as failure:
                for entry in entries:
                    entry.fail(failure)
                return
            self._push(pending.blocks)

    def _push(self, blocks: Sequence[Lightblock]) -> None:
        for block in blocks:
            self.chain.push(link(block))
            self._cache.put(block)
            if block.type == BlockType.NETWORK:
                self._list = members_in(block.payload)
                log.info("the network has %d members", len(self._list))
        self._tell()

    async def _adopt(self, base: str, links: Sequence[Link], keep: bool, force: bool) -> bool:
        async with self._lock:
            if base and base not in self.chain:
                return False
            if base == self.chain.head and not self.truncated:
                await self._extend(links)
                return bool(links)
            other = Chain([*self.chain.until(base), *links])
            if not force and not self._better(other):
                return False
            mine = [each.id for each in self.chain.after(base) if each.type == BlockType.CLIENT]
            kept = (*self.lost, *mine) if keep else ()
            lost = tuple(each for each in dict.fromkeys(kept) if not other.held(each))
            listed = await self._listed(other.newest_network)
            await self._write(lambda: self.files.turn(other.head, len(other), lost))
            self.chain, self.lost, self._list = other, lost, listed
            self.truncated = self.truncated and bool(base)
            self._tell()
            return True

    async def _extend(self, links: Sequence[Link]) -> None:
        """Have blocks follow that are on the disk already."""
        newest = Chain(links).newest_network
        listed = await self._listed(newest) if newest else self._list
        if links:
            height = len(self.chain) + len(links)
            await self._write(lambda: self.files.turn(links[-1].id, height))
            for each in links:
                self.chain.push(each)
            self._list = listed
            self._tell()

    def _better(self, other: Chain) -> bool:
        card = Card("", other.root, other.head, other.networks, other.clients)
        return card.beats(self.card)

    async def _reset(self) -> None:
        async with self._lock:
            await self._write(lambda: self.files.turn("", 0, ()))
            self.chain, self.lost, self.truncated, self._list = Chain(), (), False, ()
            self._tell()

    async def _listed(self, network: str) -> tuple[PeerInfo, ...]:
        """The members that a block lists; none if there is no block."""
        return members_in((await self.get(network)).payload) if network else ()

    async def _write(self, work: Callable[[], None]) -> None:
        try:
            await self._worker(work)
        except OSError as error:
            self.failures += 1
            why = error.strerror or type(error).__name__
            raise refusal(f"cannot write to the disk: {why}") from error
        self.failures = 0

    def _tell(self) -> None:
        """Wake the callers that wait for news."""
        self._news.set()
        self._news = asyncio.Event()
