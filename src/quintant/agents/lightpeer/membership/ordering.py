"""How blocks get into every chain in one order.

A peer with something to say proposes it to the first member that is not dead. That one links it to
its newest block, writes it, tells all members, and answers what it follows. So a block that is
acknowledged is on two disks at least, the proposer's and the first member's, and everywhere else
unless a member did not answer. A first member that is dead is succeeded by the next one, which
looks at every chain before it orders anything.

A lightpeer of another make that happens to be first takes a block if it follows its newest one, and
else refuses; then the proposal is made again. It notifies no member, so the proposer does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from random import Random

from quintant.agents.lightpeer.chain.block import MEMBERS, fresh, members_in, payload_of, relinked
from quintant.agents.lightpeer.chain.pending import Taken
from quintant.agents.lightpeer.disk.chain_store import ChainStore
from quintant.agents.lightpeer.membership.broadcast import Broadcast
from quintant.agents.lightpeer.membership.leadership import Leadership
from quintant.agents.lightpeer.membership.membership import MemberList
from quintant.agents.lightpeer.membership.sync import Sync
from quintant.agents.lightpeer.rpc.calls import Code, Failed, refusal
from quintant.agents.lightpeer.scope import Scope
from quintant.wire.lightpeer import NOTIFY_NEW_BLOCK, BlockType, Lightblock, PeerInfo
from quintant.wire.peeradmin import PROPOSE, Card

PROPOSE_SECONDS = 5.0
"""How long the first member may take to order a block: as long as a client waits."""
DOUBT_SECONDS = 1.0
"""How long it may take before it is asked whether it is well."""
SETTLE_SECONDS = 0.5
"""How long to wait for what a block follows before asking for it: a member sends it right now."""
FAIR_SECONDS = 1.0
"""A write that had less time than that and failed says nothing about the network."""
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


class Ordering:
    """Proposes blocks, and orders those that others propose."""

    def __init__(
        self, store: ChainStore, membership: MemberList, sync: Sync, scope: Scope, chance: Random
    ) -> None:
        self.store = store
        self.membership = membership
        self.sync = sync
        self.broadcast: Broadcast = Broadcast(store, membership, scope)
        self.leadership: Leadership = Leadership(store, membership, sync, self.broadcast)
        self.last: tuple[float, str] | None = None
        """When the last write ended (loop time), and why it failed; empty if it did not."""
        self._scope = scope
        self._chance = chance

    async def write(
        self, identity: str, payload: bytes, seconds: float, *, again: bool = False
    ) -> None:
        """Keep what a client wrote on every member; Failed if that takes too long.

        With `again`, a block of that id has been in some chain before.
        """
        names = relinked(identity, self._chance)
        if again or self.store.chain.held(identity):
            next(names)

        def draft(previous: str) -> Lightblock | None:
            return Lightblock(next(names), payload, previous, BlockType.CLIENT)

        try:
            await _within(seconds, self._carry(draft))
        except Failed as failure:
            if seconds >= FAIR_SECONDS:
                self._note(failure.text)
            raise
        self._note("")

    async def change(self, amend: Callable[[Members], Members], seconds: float) -> None:
        """Change the members; nothing happens if they are so already."""

        def draft(previous: str) -> Lightblock | None:
            members = amend(self.store.members)
            if not members or (members == self.store.members and self.store.listed):
                return None
            if len(members) > MEMBERS:
                raise refusal(f"a network has at most {MEMBERS} members")
            return Lightblock(fresh(self._chance), payload_of(members), previous)

        await _within(seconds, self._carry(draft))

    def _note(self, failure: str) -> None:
        self.last = asyncio.get_running_loop().time(), failure

    async def accept(self, block: Lightblock, card: Card) -> str:
        """Order what another peer proposes, and tell all members; what to answer it."""
        if card.root != self.store.root:
            raise refusal("the block is of another network")
        if block.previous and block.previous not in self.store.chain:
            await self.sync.catch(card.address)
        await self.leadership()
        if block.type == BlockType.NETWORK:
            if self.store.chain.changed_since(block.previous):
                raise refusal("members changed meanwhile")
            if well := await self.leadership.doubt(block, card):
                return WELL + well
        new = self._new(block)
        linked = await self._order(block)
        if linked is None:
            return KNOWN
        await self._tell(linked.id, new)
        if linked.id not in self.store.chain:
            raise refusal("another chain is better")
        return AFTER + linked.previous

    async def _carry(self, draft: Draft) -> None:
        """Propose until it is in the chain, and on another member if there is any."""
        while (block := draft(self.store.chain.head)) is not None:
            if await self._submit(block):
                return
            await self._pause()

    async def _submit(self, block: Lightblock) -> bool:
        """Have a block in the chain, and on another member if there is any; False: try again."""
        first, new = self.membership.first, self._new(block)
        if first == self.membership.me:
            await self.leadership()
            linked = await self._order(block)
            return await self._copy(linked.id if linked else self.store.chain.held(block.id), new)
        try:
            verdict = await self._propose(first, block)
        except Failed as failure:
            if not failure.refused:
                await self.broadcast.confirm(self.leadership.line[:SUCCESSORS])
            elif not await self.sync.catch(first):
                await self.membership.confirm(first)
            return False
        return await self._submitted(block, verdict, first, new)

    async def _submitted(self, block: Lightblock, verdict: str, first: str, new: set[str]) -> bool:
        """Have what the first member has."""
        if verdict == KNOWN:
            await self.sync.catch(first)
            return bool(self.store.chain.held(block.id))
        if verdict.startswith(WELL):
            self.membership.spare(verdict.removeprefix(WELL))
            return False
        if verdict.startswith(AFTER):
            return await self._settle(replace(block, previous=verdict.removeprefix(AFTER)))
        if not await self._settle(block):
            return False
        # It is of another make, and has notified no member.
        await self._tell(block.id, new | {first})
        return block.id in self.store.chain

    async def _copy(self, identity: str, new: set[str]) -> bool:
        """Have another member keep a block, if there is one that lives; False: try again."""
        while identity in self.store.chain:
            if await self._tell(identity, new) or not set(self.membership.alive) - new:
                return identity in self.store.chain
            await self._pause()
        return False

    async def _tell(self, identity: str, new: set[str]) -> bool:
        """Tell all others; whether any has it. Who refused may have a better chain."""
        delivery = await self.broadcast.tell(identity, new)
        for address in delivery.refused:
            await self.sync.catch(address)
        return delivery.taken

    def _new(self, block: Lightblock) -> set[str]:
        """Who becomes a member by a block: another member is just sending them the whole chain."""
        if block.type != BlockType.NETWORK:
            return set()
        return {each.address for each in members_in(block.payload)} - {
            each.address for each in self.store.members
        }

    async def _order(self, block: Lightblock) -> Lightblock | None:
        return await self.store.order(block, stale=block.type == BlockType.CLIENT)

    async def _pause(self) -> None:
        await asyncio.sleep(self._chance.uniform(*PAUSE_SECONDS))

    async def _propose(self, first: str, block: Lightblock) -> str:
        """What the first member says; while it is slow it is asked whether it is well."""
        asking = self._scope.begin(self._ask(first, block))
        try:
            while not (await asyncio.wait({asking}, timeout=DOUBT_SECONDS))[0]:
                if await self.membership.confirm(first):
                    raise Failed(Code.UNAVAILABLE, f"{first} does not answer")
            return await asking
        finally:
            asking.cancel()

    async def _ask(self, first: str, block: Lightblock) -> str:
        reply = await self.membership.dial.ask(
            first,
            NOTIFY_NEW_BLOCK,
            block,
            seconds=PROPOSE_SECONDS,
            metadata={**self.store.card.metadata(), PROPOSE: "yes"},
        )
        return reply.message.response

    async def _settle(self, block: Lightblock) -> bool:
        """Have a block that the first member has; False if what it follows does not come."""
        store = self.store
        if await store.take(block) is not Taken.APART:
            return True
        await store.until(lambda: store.chain.has(block.previous, block.id), SETTLE_SECONDS)
        return await store.take(block) is not Taken.APART


async def _within(seconds: float, work: Awaitable[None]) -> None:
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        raise refusal("could not send new block notifications: no agreement in time") from None
