"""Five peers are killed again and again under load, with journals of any length."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from random import Random

import pytest
import pytest_asyncio

from quintant.agents.lightpeer.rpc.calls import Failed
from quintant.wire.lightpeer import QUERY, EmptyQueryRequest
from testbeds.lightpeers import Lightpeer, Loopback, loopback, until

pytestmark = pytest.mark.realtime

SOAK = bool(os.environ.get("QUINTANT_SOAK"))
PEERS = 5
KILLS = 30 if SOAK else 3
JOURNAL_BYTES = 100_000_000 if SOAK else 10_000_000
"""How long every journal is before the first kill; a tenth of it in `make test`."""
PAYLOADS = (20, 500, 5_000, 60_000)
"""Lengths of what is written; once the journals are long enough, without the last."""
READ_SECONDS = 300.0
AGREE_SECONDS = 300.0
SLOWEST_START_SECONDS = 10.0
"""At full size, on a machine that does nothing else; in `make test` the testbed's limit holds."""


@pytest_asyncio.fixture
async def testbed(tmp_path: Path) -> AsyncIterator[Loopback]:
    async with loopback(tmp_path) as made:
        yield made


async def test_soak_no_length_of_a_journal_costs_an_acknowledged_write(testbed: Loopback) -> None:
    peers = await testbed.formed(PEERS)
    random, numbers = Random(11), count()
    acknowledged: set[bytes] = set()
    starts: list[float] = []
    sizes = list(PAYLOADS)
    async with asyncio.TaskGroup() as group:
        writers = [
            group.create_task(_write(peer, numbers, sizes, acknowledged))
            for peer in peers
            for _ in range(3)
        ]
        await until(lambda: _journals_hold(peers, JOURNAL_BYTES), AGREE_SECONDS)
        sizes.pop()
        for _ in range(KILLS):
            await asyncio.sleep(random.uniform(0.2, 2))
            victim = random.choice(peers)
            await victim.kill()
            await asyncio.sleep(random.uniform(0, 2))
            began = time.monotonic()
            await victim.start()
            starts.append(time.monotonic() - began)
        for writer in writers:
            writer.cancel()
    held = [_journal_bytes(each) for each in peers]
    for peer in peers:
        await peer.kill()
    began = time.monotonic()
    await asyncio.gather(*(each.start() for each in peers))
    together = time.monotonic() - began
    await until(lambda: _alike(peers), AGREE_SECONDS)
    for peer in peers:
        assert not acknowledged - await _keys(peer)
    print(
        f"{len(acknowledged)} acknowledged, journals {min(held) / 1e6:.0f} to "
        f"{max(held) / 1e6:.0f} MB, starts {max(starts):.1f} s at most, "
        f"all together {together:.1f} s"
    )
    assert len(acknowledged) > 100
    assert min(held) >= JOURNAL_BYTES
    if SOAK:
        assert max(*starts, together) <= SLOWEST_START_SECONDS


async def _write(
    peer: Lightpeer, numbers: count[int], sizes: list[int], acknowledged: set[bytes]
) -> None:
    for number in numbers:
        key = b"%s %d" % (peer.address.encode(), number)
        size = sizes[number % len(sizes)]
        try:
            await peer.persist(key + b"|" + os.urandom(size))
        except Failed:
            await asyncio.sleep(0.2)
            continue
        acknowledged.add(key)


async def _keys(peer: Lightpeer) -> set[bytes]:
    stream = peer.testbed.channels.stream(
        peer.address, QUERY, EmptyQueryRequest(), seconds=READ_SECONDS, metadata={}
    )
    return {each.payload.partition(b"|")[0] async for each in stream}


async def _alike(peers: list[Lightpeer]) -> bool:
    try:
        found = [await each.status() for each in peers]
    except Failed:
        return False
    return len({each.head for each in found}) == 1 and len(found[0].members) == PEERS


async def _journals_hold(peers: list[Lightpeer], size: int) -> bool:
    return all(_journal_bytes(each) >= size for each in peers)


def _journal_bytes(peer: Lightpeer) -> int:
    return sum(each.stat().st_size for each in peer.repo.glob("JOURNAL*"))
