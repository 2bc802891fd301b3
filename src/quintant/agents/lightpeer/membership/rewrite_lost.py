"""Writing again what was lost to another chain.

When a peer turns to another branch of its network's chain, what clients had written on its own is
proposed again, in order. Many members may do that at once: the first one takes each thing once. The
same is done with what stands above a damaged block. A peer that is alone writes many at a time.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import islice
from random import Random

from quintant.agents.lightpeer.chain.block import relinked
from quintant.agents.lightpeer.disk.chain_store import ChainStore
from quintant.agents.lightpeer.membership.ordering import Ordering
from quintant.agents.lightpeer.rpc.calls import Failed

PAUSE_SECONDS = (0.2, 1.0)
"""Before it begins: most often another member has done it by then."""
WRITE_SECONDS = 10.0
TOGETHER = 256
"""So many are written with one sync where there is no other member."""


async def rewrite_lost(store: ChainStore, ordering: Ordering, chance: Random) -> None:
    """Write again whatever is lost, for ever."""
    while True:
        await store.until(lambda: bool(store.lost), WRITE_SECONDS)
        if not store.lost:
            continue
        await asyncio.sleep(chance.uniform(*PAUSE_SECONDS))
        try:
            if ordering.membership.others:
                await _once(store, ordering)
            else:
                await _alone(store, chance)
        except Failed:
            continue  # Another round tries again: it is on the disk what is left to do.


async def _alone(store: ChainStore, chance: Random) -> None:
    lost = store.lost
    left = [each for each in lost if not store.chain.held(each)]
    while left:
        try:
            some = await store.some(left[:TOGETHER])
        except Failed:
            del left[0]  # Its file is gone, and nothing can be done.
            continue
        names = (next(islice(relinked(each.id, chance), 1, None)) for each in some)
        again = [replace(each, id=name) for each, name in zip(some, names, strict=True)]
        await store.order_all(again)
        del left[: len(some)]
    await store.found(lost)


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
