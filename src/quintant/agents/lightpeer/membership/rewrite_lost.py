"""Writing again what was lost to another chain.

When a peer turns to another branch of its network's chain, what clients had written on its own is
proposed anew, in order. Many members may do that at once: the first one takes each thing once.
"""

from __future__ import annotations

import asyncio
from random import Random

from quintant.agents.lightpeer.disk.chain_store import ChainStore
from quintant.agents.lightpeer.membership.ordering import Ordering
from quintant.agents.lightpeer.rpc.calls import Failed

PAUSE_SECONDS = (0.2, 1.0)
"""Before it begins: most often somebody else has done it by then."""
WRITE_SECONDS = 10.0


async def rewrite_lost(store: ChainStore, ordering: Ordering, chance: Random) -> None:
    """Write again whatever is lost, for ever."""
    while True:
        await store.until(lambda: bool(store.lost), WRITE_SECONDS)
        if not store.lost:
            continue
        await asyncio.sleep(chance.uniform(*PAUSE_SECONDS))
        try:
            await _once(store, ordering)
        except Failed:
            continue  # Another round tries again: it is on the disk what is left to do.


async def _once(store: ChainStore, ordering: Ordering) -> None:
    lost = store.lost
    for identity in lost:
        if store.chain.held(identity):
            continue
        try:
            block = await store.get(identity)
        except Failed:
            continue  # Its file is gone, and nothing can be done.
        await ordering.write(identity, block.payload, WRITE_SECONDS, again=True)
    await store.found(lost)
