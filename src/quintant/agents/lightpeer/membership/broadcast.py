"""Telling all members, in as few messages as there can be.

Members are notified in rounds. What is added to the chain during a round goes with the next one, so
many writers cost no more messages than one. A member that is slow is left to itself after a moment:
it has one message under way, and holds up no other. A member that does not answer is doubted,
and left out when it is dead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, TypeVar

from quintant.agents.lightpeer.disk.chain_store import ChainStore
from quintant.agents.lightpeer.membership.delivery import Delivery
from quintant.agents.lightpeer.membership.membership import MemberList, Seen
from quintant.agents.lightpeer.rpc.calls import Failed
from quintant.agents.lightpeer.scope import Scope

AT_ONCE = 32
"""Calls under way at the same time: enough to hide slow ones, too few to crowd a small machine."""
TELL_SECONDS = 1.0
"""How long a writer waits for members that are slow; they are notified nevertheless."""
ROUND_SECONDS = 1.0
"""How long a round waits for members that are slow, before the next one begins without them."""
GATHER = 0.25
"""Between two rounds, this part of the first is waited: then a member that got it in the first
has written again, and goes with the second."""

T = TypeVar("T")


class Telling:
    """A block that all members are to have."""

    def __init__(self, identity: str) -> None:
        self.identity = identity
        self.left: set[str] = set()
        """Who has said nothing yet."""
        self.refused: set[str] = set()
        self.taken = False
        """Whether any other member has it."""
        self.done: Final = asyncio.Event()

    def answered(self, address: str) -> None:
        """Wait no longer for a member."""
        self.left.discard(address)
        if not self.left:
            self.done.set()


class Broadcast:
    """Tells members."""

    def __init__(self, store: ChainStore, membership: MemberList, scope: Scope) -> None:
        self.store = store
        self.membership = membership
        self._scope = scope
        self._delivery = Delivery(store, membership)
        self._wanted: set[str] = set()
        """Whom to tell something."""
        self._busy: set[str] = set()
        """The members that are notified right now."""
        self._going = False
        self._slow: set[str] = set()
        self._tellings: set[Telling] = set()
        self._gate = asyncio.Semaphore(AT_ONCE)

    async def tell(self, identity: str, apart: Iterable[str] = ()) -> Telling:
        """Notify every live member of a block of the chain, apart from some who get it anyhow.

        Returns when all have said something, or after a while; the slow ones are notified later.
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
        self.membership.reached[address] = newest
        self._delivery.renew(address)
        self._wake(address)

    async def look(self, addresses: Iterable[str]) -> list[Seen]:
        """See who is at some addresses."""
        return await _all(self.membership.look, addresses)

    async def confirm(self, addresses: Iterable[str]) -> None:
        """Find out which of some members are dead."""
        await _all(self.membership.confirm, addresses)

    def _begin(self, identity: str, apart: frozenset[str]) -> Telling:
        telling = Telling(identity)
        chain, reached = self.store.chain, self.membership.reached
        reached |= dict.fromkeys(apart, identity)
        for address in self.membership.alive if identity in chain else ():
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
        """Notify all members, again and again, until none lacks anything."""
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
                await self._delivery.send(address)
            self._took(address)
        except Failed as failure:
            self._failed(address, failure)
        finally:
            self._busy.discard(address)
        if address in self._wanted:
            self._wake(address)

    def _took(self, address: str) -> None:
        """Tell the callers that wait for a member what it has now."""
        self._slow.discard(address)
        chain, reached = self.store.chain, self.membership.reached.get(address, "")
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
            self._scope.start(self.membership.confirm(address))


async def _all(work: Callable[[str], Awaitable[T]], addresses: Iterable[str]) -> list[T]:
    """The outcomes of some work for each address, a few at once."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(address: str) -> T:
        async with gate:
            return await work(address)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(address)) for address in addresses]
    return [each.result() for each in tasks]
