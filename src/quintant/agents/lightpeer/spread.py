"""Telling all members at once, a few at a time.

A member that does not answer costs its time once: it is doubted then, and left out when it is dead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from quintant.agents.lightpeer.book import Book
from quintant.agents.lightpeer.neighbours import Neighbours, Seen
from quintant.agents.lightpeer.rpc import Failed
from quintant.agents.lightpeer.scope import Scope
from quintant.wire.lightpeer import NOTIFY_NEW_BLOCK, Lightblock

AT_ONCE = 32
"""Calls under way at the same time: enough to hide slow ones, too few to crowd a small machine."""
NOTIFY_SECONDS = 2.0
"""How long a member may take to write a block, what it follows included."""

T = TypeVar("T")


@dataclass(slots=True)
class Told:
    """Who took a block, and who did not want it. The others did not answer."""

    taken: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


class Spread:
    """Tells members."""

    def __init__(self, book: Book, neighbours: Neighbours, scope: Scope) -> None:
        self.book = book
        self.neighbours = neighbours
        self._scope = scope

    async def __call__(self, block: Lightblock, apart: Iterable[str]) -> Told:
        """Tell every member that lives about a block, apart from some."""
        told = Told()
        skipped = set(apart)

        async def tell(address: str) -> None:
            try:
                await self.notify(address, block)
            except Failed as failure:
                if failure.refused:
                    told.refused.append(address)
                else:
                    self._scope.start(self.neighbours.confirm(address))
            else:
                told.taken.append(address)

        await _all(tell, [each for each in self.neighbours.alive if each not in skipped])
        return told

    async def look(self, addresses: Iterable[str]) -> list[Seen]:
        """See who is at some addresses."""
        return await _all(self.neighbours.look, addresses)

    async def confirm(self, addresses: Iterable[str]) -> None:
        """Find out which of some members are dead."""
        await _all(self.neighbours.confirm, addresses)

    async def notify(self, address: str, block: Lightblock) -> None:
        """Tell one peer about a block; Failed if it does not take it."""
        await self.neighbours.dial.ask(
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
