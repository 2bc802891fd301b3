"""Telling members what they have not got, in as few messages as there can be.

Members are told in rounds. What is added to the chain during a round goes with the next one, so
many writers cost no more messages than one. A member that is slow is left to itself after a moment:
it has one message under way, and holds up nobody else. Our own peers take many blocks at once and
say what they have then; others are told one by one, in order. A member that does not answer is
doubted, and left out when it is dead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from quintant.agents.lightpeer.book import Book
from quintant.agents.lightpeer.neighbours import Neighbours, Seen
from quintant.agents.lightpeer.rpc import Code, Failed, Reply, refusal
from quintant.agents.lightpeer.scope import Scope
from quintant.wire.lightpeer import NOTIFY_NEW_BLOCK, Lightblock, NewBlockResponse
from quintant.wire.peeradmin import TAKE_BLOCKS, TakeRequest

AT_ONCE = 32
"""Calls under way at the same time: enough to hide slow ones, too few to crowd a small machine."""
NOTIFY_SECONDS = 2.0
"""How long a member may take to write blocks, what they follow included."""
TELL_SECONDS = 1.0
"""How long a writer waits for members that are slow; they are told nevertheless."""
ROUND_SECONDS = 1.0
"""How long a round waits for members that are slow, before the next one begins without them."""
GATHER = 0.25
"""Between two rounds, this part of the first is waited: then whoever was told of it in the first
has written again, and goes with the second."""
BATCH_BYTES = 1_000_000
BATCH_BLOCKS = 256
"""What goes in one message, whichever is less; one block may be longer."""
TRIES = 5
RETRY_SECONDS = 0.1
"""A peer of another make refuses blocks while it joins or writes, and takes them a moment later."""

T = TypeVar("T")


class Telling:
    """A block that all members are told of."""

    def __init__(self, identity: str) -> None:
        self.identity = identity
        self.left: set[str] = set()
        """Who has said nothing yet."""
        self.refused: set[str] = set()
        self.taken = False
        """Whether any other member has it."""
        self.done = asyncio.Event()

    def answered(self, address: str) -> None:
        """Wait no longer for a member."""
        self.left.discard(address)
        if not self.left:
            self.done.set()


class Spread:
    """Tells members."""

    def __init__(self, book: Book, neighbours: Neighbours, scope: Scope) -> None:
        self.book = book
        self.neighbours = neighbours
        self._scope = scope
        self._wanted: set[str] = set()
        """Whom to tell something."""
        self._busy: set[str] = set()
        """Whom something is told right now."""
        self._going = False
        self._slow: set[str] = set()
        self._wedged: set[str] = set()
        """Peers of another make that missed something; they are told of the newest block only."""
        self._tellings: set[Telling] = set()
        self._gate = asyncio.Semaphore(AT_ONCE)

    async def tell(self, identity: str, apart: Iterable[str] = ()) -> Telling:
        """Have every live member told of a block of the chain, apart from some who get it anyhow.

        Returns when all have said something, or after a while; the slow ones are told later.
        """
        telling = self._begin(identity, frozenset(apart))
        try:
            async with asyncio.timeout(TELL_SECONDS):
                await telling.done.wait()
        except TimeoutError:
            self._slow |= telling.left
        finally:
            self._tellings.discard(telling)
        return telling

    def follow(self, address: str, newest: str) -> None:
        """Tell a peer what came after a block, which is the newest it has."""
        self.neighbours.reached[address] = newest
        self._wedged.discard(address)
        self._wake(address)

    async def look(self, addresses: Iterable[str]) -> list[Seen]:
        """See who is at some addresses."""
        return await _all(self.neighbours.look, addresses)

    async def confirm(self, addresses: Iterable[str]) -> None:
        """Find out which of some members are dead."""
        await _all(self.neighbours.confirm, addresses)

    def _begin(self, identity: str, apart: frozenset[str]) -> Telling:
        telling = Telling(identity)
        chain, reached = self.book.chain, self.neighbours.reached
        reached |= dict.fromkeys(apart, identity)
        for address in self.neighbours.alive if identity in chain else ():
            reached.setdefault(address, chain.before(identity))
            if address in apart:
                continue
            if chain.reaches(reached[address], identity):
                telling.taken = True
                continue
            if address not in self._slow:
                telling.left.add(address)
            self._wake(address)
        if not telling.left:
            telling.done.set()
        self._tellings.add(telling)
        return telling

    def _wake(self, address: str) -> None:
        self._wanted.add(address)
        if not self._going:
            self._going = True
            self._scope.start(self._rounds())

    async def _rounds(self) -> None:
        """Tell everybody, again and again, until nobody lacks anything."""
        loop = asyncio.get_running_loop()
        try:
            while waiting := self._wanted - self._busy:
                self._busy |= waiting
                began = loop.time()
                sending = [self._scope.start(self._serve(address)) for address in waiting]
                await asyncio.wait(sending, timeout=ROUND_SECONDS)
                if self._wanted - self._busy:
                    await asyncio.sleep(GATHER * (loop.time() - began))
        finally:
            self._going = False

    async def _serve(self, address: str) -> None:
        """Send a member some of what it lacks."""
        try:
            async with self._gate:
                await self._send(address)
            self._took(address)
        except Failed as failure:
            self._failed(address, failure)
        finally:
            self._busy.discard(address)
        if address in self._wanted:
            self._wake(address)

    def _took(self, address: str) -> None:
        """Tell whoever waits for a member what it has now."""
        self._slow.discard(address)
        chain, reached = self.book.chain, self.neighbours.reached.get(address, "")
        if reached in ("", chain.head):
            self._wanted.discard(address)
        for telling in self._tellings:
            if chain.reaches(reached, telling.identity):
                telling.taken = True
                telling.answered(address)
            elif telling.identity not in chain:
                telling.answered(address)

    def _failed(self, address: str, failure: Failed) -> None:
        self._wanted.discard(address)
        for telling in self._tellings:
            if failure.refused and address in telling.left:
                telling.refused.add(address)
            telling.answered(address)
        if not failure.refused:
            self._scope.start(self.neighbours.confirm(address))

    async def _send(self, address: str) -> None:
        """Send a member some of what it lacks; Failed if that does not help."""
        if self.neighbours.reached.get(address) in (None, self.book.chain.head):
            return  # It is no member any more, or has got everything by somebody else.
        if address in self.neighbours.ours and not self._apart(address):
            await self._give(address)
        else:
            await self._announce(address)

    def _apart(self, address: str) -> bool:
        """Whether what a member has is not in our chain."""
        reached = self.neighbours.reached.get(address, "")
        return bool(reached) and reached not in self.book.chain

    async def _give(self, address: str) -> None:
        """Send one of our own peers many blocks."""
        before = self.neighbours.reached[address]
        blocks = await self._after(before)
        try:
            reply = await self.neighbours.dial.ask(
                address,
                TAKE_BLOCKS,
                TakeRequest(blocks),
                seconds=NOTIFY_SECONDS,
                metadata=self.book.card.metadata(),
            )
        except Failed as failure:
            if failure.code != Code.UNIMPLEMENTED:
                raise
            self.neighbours.ours.discard(address)
            return
        if not self.neighbours.meet(address, reply.card):
            raise Failed(Code.UNAVAILABLE, f"{address} is in another network")
        if self.neighbours.reached[address] == before:
            raise refusal(f"{address} does not take what follows its newest block")

    async def _announce(self, address: str) -> None:
        """Tell a peer of another make block by block, and one with another branch of the newest."""
        ours = address in self.neighbours.ours
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
        chain, reached = self.book.chain, self.neighbours.reached
        start = reached.get(address, chain.head)
        if address in self._wedged or self._apart(address):
            start = chain.before(chain.head)
        why = None
        for each in list(chain.after(start)):
            try:
                reply = await self.notify(address, await self.book.get(each.id))
            except Failed as failure:
                if not failure.refused:
                    raise
                why = failure  # Perhaps it has this one; then it takes the next.
            else:
                ours = self.neighbours.meet(address, reply.card)
                why, reached[address] = None, each.id
                if ours:
                    break
        return why

    async def _after(self, identity: str) -> tuple[Lightblock, ...]:
        """The blocks after one, as many as go in one message."""
        found: list[Lightblock] = []
        size = 0
        for each in self.book.chain.after(identity):
            block = await self.book.get(each.id)
            size += len(block.payload)
            if found and (size > BATCH_BYTES or len(found) >= BATCH_BLOCKS):
                break
            found.append(block)
        return tuple(found)

    async def notify(self, address: str, block: Lightblock) -> Reply[NewBlockResponse]:
        """Tell one peer about a block; Failed if it does not take it."""
        return await self.neighbours.dial.ask(
            address,
            NOTIFY_NEW_BLOCK,
            block,
            seconds=NOTIFY_SECONDS,
            metadata=self.book.card.metadata(),
        )


async def _all(work: Callable[[str], Awaitable[T]], addresses: Iterable[str]) -> list[T]:
    """The outcomes of some work for each address, a few at once."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(address: str) -> T:
        async with gate:
            return await work(address)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(address)) for address in addresses]
    return [each.result() for each in tasks]
