"""How blocks get into every chain in one order.

Whoever has something to say proposes it to the first member that is not dead. That one links it to
its newest block, writes it, and tells what it follows; then the proposer takes it over itself and
tells all others at once. So a block that is acknowledged is on two disks at least, and everywhere
else unless a member did not answer. A first member that is dead is succeeded by the next one,
which looks at every chain before it orders anything.

A lightpeer of another make that happens to be first takes a block if it follows its newest one, and
else refuses; then the proposal is made again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from random import Random

from quintant.agents.lightpeer.block import MEMBERS, fresh, members_in, payload_of, relinked
from quintant.agents.lightpeer.book import Book
from quintant.agents.lightpeer.neighbours import Neighbours, Sight
from quintant.agents.lightpeer.rpc import Code, Failed, refusal
from quintant.agents.lightpeer.scope import Scope
from quintant.agents.lightpeer.spread import AT_ONCE, Spread
from quintant.agents.lightpeer.sync import Sync
from quintant.agents.lightpeer.tail import Taken
from quintant.wire.lightpeer import NOTIFY_NEW_BLOCK, BlockType, Lightblock, PeerInfo
from quintant.wire.peeradmin import PROPOSE, Card

PROPOSE_SECONDS = 5.0
"""How long the first member may take to order a block: as long as a client waits."""
DOUBT_SECONDS = 1.0
"""How long it may take before it is asked whether it is well."""
SETTLE_SECONDS = 0.5
"""How long to wait for what a block follows before asking for it: others send it right now."""
CALM_SECONDS = 0.1
"""How long to wait for news after a refusal."""
PAUSE_SECONDS = (0.005, 0.05)
"""Between two proposals of the same thing."""
SUCCESSORS = 8
"""When the first member does not answer, so many of the next are asked at the same time."""
KNOWN = "known"
AFTER = "after "
WELL = "well "
"""What the first member says: it is in the chain already, it follows that block now, or a member
that shall be removed answers."""

Draft = Callable[[str], Lightblock | None]
"""A block that follows the given one; None if there is nothing left to say."""
Members = tuple[PeerInfo, ...]


class Orders:
    """Proposes blocks, and orders those that others propose."""

    def __init__(
        self, book: Book, neighbours: Neighbours, sync: Sync, scope: Scope, chance: Random
    ) -> None:
        self.book = book
        self.neighbours = neighbours
        self.sync = sync
        self._spread = Spread(book, neighbours, scope)
        self._scope = scope
        self._chance = chance
        self._succeeded: tuple[str, ...] = ()

    async def write(
        self, identity: str, payload: bytes, seconds: float, *, again: bool = False
    ) -> None:
        """Keep what a client wrote on every member; Failed if that takes too long.

        With `again`, a block of that id has been in some chain before.
        """
        names = relinked(identity, self._chance)
        if again:
            next(names)

        def draft(previous: str) -> Lightblock | None:
            if self.book.chain.held(identity):
                return None
            return Lightblock(next(names), payload, previous, BlockType.CLIENT)

        await _within(seconds, self._carry(draft, frozenset()))

    async def change(
        self,
        amend: Callable[[Members], Members],
        seconds: float,
        *,
        apart: frozenset[str] = frozenset(),
    ) -> None:
        """Change the members; nothing happens if they are so already. `apart` is not told."""

        def draft(previous: str) -> Lightblock | None:
            members = amend(self.book.members)
            if not members or (members == self.book.members and self.book.listed):
                return None
            if len(members) > MEMBERS:
                raise refusal(f"a network has at most {MEMBERS} members")
            return Lightblock(fresh(self._chance), payload_of(members), previous)

        await _within(seconds, self._carry(draft, apart))

    async def accept(self, block: Lightblock, card: Card) -> str:
        """Order what another peer proposes; what to answer it."""
        if card.root != self.book.root:
            raise refusal("the block is of another network")
        if block.previous and block.previous not in self.book.chain:
            await self._catch(card.address)
        await self._lead()
        if block.type == BlockType.NETWORK and (well := await self._doubt(block, card)):
            return WELL + well
        linked = await self.book.order(block, stale=block.type == BlockType.CLIENT)
        return KNOWN if linked is None else AFTER + linked.previous

    async def _carry(self, draft: Draft, apart: frozenset[str]) -> None:
        """Propose until it is in the chain, and on another member if there is any."""
        while (block := draft(self.book.chain.head)) is not None:
            first = self.neighbours.first
            placed = await self._place(block, first)
            if placed is None:
                await asyncio.sleep(self._chance.uniform(*PAUSE_SECONDS))
                continue
            while placed.id in self.book.chain:
                if await self._tell(placed, first, apart):
                    return
                await asyncio.sleep(self._chance.uniform(*PAUSE_SECONDS))

    async def _tell(self, placed: Lightblock, first: str, apart: frozenset[str]) -> bool:
        """Tell all others; whether the block is safe."""
        told = await self._spread(placed, apart | {first})
        for address in told.refused:
            await self._catch(address)
        copied = first != self.neighbours.me or told.taken or not told.refused
        return bool(copied) and placed.id in self.book.chain

    async def _place(self, block: Lightblock, first: str) -> Lightblock | None:
        """The block as the first member linked it, once it is in our chain; None: try again."""
        if first == self.neighbours.me:
            await self._lead()
            return await self.book.order(block, stale=block.type == BlockType.CLIENT)
        try:
            verdict = await self._propose(first, block)
        except Failed as failure:
            if not failure.refused:
                await self._spread.confirm(self._line()[:SUCCESSORS])
            elif not await self._catch(first):
                await self.neighbours.confirm(first)
            return None
        if verdict == KNOWN:
            await self._catch(first)
            held = self.book.chain.held(block.id)
            return await self.book.get(held) if held else None
        if verdict.startswith(WELL):
            self.neighbours.spare(verdict.removeprefix(WELL))
            return None
        linked = block
        if verdict.startswith(AFTER):
            linked = replace(block, previous=verdict.removeprefix(AFTER))
        return linked if await self._settle(linked, first) else None

    async def _propose(self, first: str, block: Lightblock) -> str:
        """What the first member says; while it is slow it is asked whether it is well."""
        asking = self._scope.begin(self._ask(first, block))
        try:
            while not (await asyncio.wait({asking}, timeout=DOUBT_SECONDS))[0]:
                if await self.neighbours.confirm(first):
                    raise Failed(Code.UNAVAILABLE, f"{first} does not answer")
            return await asking
        finally:
            asking.cancel()

    async def _ask(self, first: str, block: Lightblock) -> str:
        reply = await self.neighbours.dial.ask(
            first,
            NOTIFY_NEW_BLOCK,
            block,
            seconds=PROPOSE_SECONDS,
            metadata={**self.book.card.metadata(), PROPOSE: "yes"},
        )
        return reply.message.response

    async def _settle(self, block: Lightblock, first: str) -> bool:
        """Have a block that the first member has, and what it follows."""
        book = self.book
        if await book.take(block) is not Taken.APART:
            return True
        await book.until(lambda: block.previous in book.chain, SETTLE_SECONDS)
        if await book.take(block) is not Taken.APART:
            return True
        await self._catch(first)
        return await book.take(block) is not Taken.APART

    async def _catch(self, address: str) -> bool:
        """Have what another peer has; from one of another make, it comes by itself or not."""
        with suppress(Failed):
            if await self.sync.pull(address):
                return True
        head = self.book.chain.head
        return await self.book.until(lambda: self.book.chain.head != head, CALM_SECONDS)

    async def _lead(self) -> None:
        """Be first: nobody before us lives, and no chain is better than ours."""
        earlier = self.neighbours.earlier
        line = self._line()
        for start in range(0, len(line), AT_ONCE):
            batch = line[start : start + AT_ONCE]
            for address, seen in zip(batch, await self._spread.look(batch), strict=True):
                if seen.sight.member:
                    raise refusal(f"{address} is the first member")
                # Whoever asks us to be first has asked it three times.
                self.neighbours.dead.add(address)
        if earlier and earlier != self._succeeded:
            await self._survey()
            self._succeeded = self.neighbours.earlier

    def _line(self) -> list[str]:
        """Who is before this peer, and not dead as far as we know."""
        return [each for each in self.neighbours.earlier if each not in self.neighbours.dead]

    async def _survey(self) -> None:
        """Take over the best chain of all members that live."""
        seen = await self._spread.look(self.neighbours.alive)
        cards = [each.card for each in seen if each.card and each.sight is Sight.OURS]
        best = self.book.card
        for card in cards:
            best = card if card.beats(best) else best
        if best.address != self.neighbours.me:
            await self._catch(best.address)

    async def _doubt(self, block: Lightblock, card: Card) -> str:
        """A member to be removed that answers us, unless it removes itself; empty if none does."""
        stay = {each.address for each in members_in(block.payload)} | {card.address}
        doubtful = [each for each in self.neighbours.alive if each not in stay]
        for address, seen in zip(doubtful, await self._spread.look(doubtful), strict=True):
            if seen.sight.member:
                return address
            # Whoever proposes this has asked it three times; so it is not asked again and again.
            self.neighbours.dead.add(address)
        return ""


async def _within(seconds: float, work: Awaitable[None]) -> None:
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        raise refusal("could not send new block notifications: no agreement in time") from None
