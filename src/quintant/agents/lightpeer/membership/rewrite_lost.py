"""Writing again what was lost to another chain.

When a peer turns to another branch of its network's chain, what clients had written on its own is
proposed anew, in order. Many members may do that at once: the first one takes each thing once.
"""

from __future__ import annotations

import asyncio
from random import Random

from quintant.agents.lightpeer.disk.chain_store import Book
from quintant.agents.lightpeer.membership.ordering import Orders
from quintant.agents.lightpeer.rpc.calls import Failed

PAUSE_SECONDS = (0.2, 1.0)
"""Before it begins: most often somebody else has done it by then."""
WRITE_SECONDS = 10.0


async def mend(book: Book, orders: Orders, chance: Random) -> None:
    """Write again whatever is lost, for ever."""
    while True:
        await book.until(lambda: bool(book.lost), WRITE_SECONDS)
        if not book.lost:
            continue
        await asyncio.sleep(chance.uniform(*PAUSE_SECONDS))
        try:
            await _once(book, orders)
        except Failed:
            continue  # Another round tries again: it is on the disk what is left to do.


async def _once(book: Book, orders: Orders) -> None:
    lost = book.lost
    for identity in lost:
        if book.chain.held(identity):
            continue
        try:
            block = await book.get(identity)
        except Failed:
            continue  # Its file is gone, and nothing can be done.
        await orders.write(identity, block.payload, WRITE_SECONDS, again=True)
    await book.found(lost)
