"""Telling one member what it lacks.

Our own peers take many blocks at once, and say what they have then. Others get block after block,
in order; one that refuses is tried again for a moment, since it may be joining or writing itself.
After that it gets the newest block only: it has missed something, and has to join again.
"""

from __future__ import annotations

import asyncio

from quintant.agents.lightpeer.disk.chain_store import ChainStore
from quintant.agents.lightpeer.membership.membership import MemberList
from quintant.agents.lightpeer.rpc.calls import Code, Failed, Reply, refusal
from quintant.wire.lightpeer import NOTIFY_NEW_BLOCK, Lightblock, NewBlockResponse
from quintant.wire.peeradmin import TAKE_BLOCKS, TakeRequest

NOTIFY_SECONDS = 2.0
"""How long a member may take to write blocks, what they follow included."""
BATCH_BYTES = 1_000_000
BATCH_BLOCKS = 256
"""What goes in one message, whichever is less; one block may be longer."""
TRIES = 5
RETRY_SECONDS = 0.1
"""A peer of another make refuses blocks while it joins or writes, and takes them a moment later."""


class Delivery:
    """Brings blocks to members."""

    def __init__(self, store: ChainStore, membership: MemberList) -> None:
        self.store = store
        self.membership = membership
        self._wedged: set[str] = set()
        """Peers of another make that missed something; they get the newest block only."""

    def renew(self, address: str) -> None:
        """Forget that a member missed something: it has the whole chain now."""
        self._wedged.discard(address)

    async def send(self, address: str) -> None:
        """Send a member some of what it lacks; Failed if that does not help."""
        if self.membership.reached.get(address) in (None, self.store.chain.head):
            return  # It is no member any more, or has got everything from another member.
        if address in self.membership.ours and not self._apart(address):
            await self._give(address)
        else:
            await self._announce(address)

    def _apart(self, address: str) -> bool:
        """Whether what a member has is not in our chain."""
        reached = self.membership.reached.get(address, "")
        return bool(reached) and reached not in self.store.chain

    async def _give(self, address: str) -> None:
        """Send one of our own peers many blocks."""
        before = self.membership.reached[address]
        blocks = await self._after(before)
        try:
            reply = await self.membership.dial.ask(
                address,
                TAKE_BLOCKS,
                TakeRequest(blocks),
                seconds=NOTIFY_SECONDS,
                metadata=self.store.card.metadata(),
            )
        except Failed as failure:
            if failure.code != Code.UNIMPLEMENTED:
                raise
            self.membership.ours.discard(address)
            return
        if not self.membership.meet(address, reply.card):
            raise Failed(Code.UNAVAILABLE, f"{address} is in another network")
        if self.membership.reached[address] == before:
            raise refusal(f"{address} does not take what follows its newest block")

    async def _announce(self, address: str) -> None:
        """Tell a peer of another make block by block, and one with another branch of the newest."""
        ours = address in self.membership.ours
        tries = 1 if ours or address in self._wedged else TRIES
        while (why := await self._one_by_one(address)) is not None:
            tries -= 1
            if not tries:
                self._wedged |= set() if ours else {address}
                raise why
            await asyncio.sleep(RETRY_SECONDS)
        self._wedged.discard(address)

    async def _one_by_one(self, address: str) -> Failed | None:
        """Why the newest block was refused; None if it was not."""
        chain, reached = self.store.chain, self.membership.reached
        start = reached.get(address, chain.head)
        if address in self._wedged or self._apart(address):
            start = chain.before(chain.head)
        why = None
        for each in list(chain.after(start)):
            try:
                reply = await self._notify(address, await self.store.get(each.id))
            except Failed as failure:
                if not failure.refused:
                    raise
                why = failure  # Perhaps it has this one; then it takes the next.
            else:
                ours = self.membership.meet(address, reply.card)
                why, reached[address] = None, each.id
                if ours:
                    break
        return why

    async def _after(self, identity: str) -> tuple[Lightblock, ...]:
        """The blocks after one, as many as go in one message."""
        found: list[Lightblock] = []
        size = 0
        for each in self.store.chain.after(identity):
            block = await self.store.get(each.id)
            size += len(block.payload)
            if found and (size > BATCH_BYTES or len(found) >= BATCH_BLOCKS):
                break
            found.append(block)
        return tuple(found)

    async def _notify(self, address: str, block: Lightblock) -> Reply[NewBlockResponse]:
        """Tell one peer about a block; Failed if it does not take it."""
        return await self.membership.dial.ask(
            address,
            NOTIFY_NEW_BLOCK,
            block,
            seconds=NOTIFY_SECONDS,
            metadata=self.store.card.metadata(),
        )
