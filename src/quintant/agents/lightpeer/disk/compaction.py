"""Giving blocks their files while it is quiet: until then they are in the journal."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from quintant.agents.lightpeer.disk.chain_store import ChainStore
from quintant.agents.lightpeer.rpc.calls import Failed

QUIET_SECONDS = 5.0
"""After so long without a new block there is time."""
COMPACT_SECONDS = 1.0
COMPACTED = 32
"""So many files are made every so often: a few percent of a core, and of what a disk can do."""


async def compact(store: ChainStore) -> None:
    """Make files of the newest blocks whenever there is time, for ever."""
    while True:
        height = len(store.chain)
        await asyncio.sleep(QUIET_SECONDS)
        while len(store.chain) == height:
            with suppress(Failed):  # Then there is no room for them now.
                await store.compact(COMPACTED)
            await asyncio.sleep(COMPACT_SECONDS)
