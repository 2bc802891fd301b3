"""Members are told what they lack: in one message each, and the slow ones hold up nobody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest_asyncio

from quintant.wire.lightpeer import NOTIFY_NEW_BLOCK
from quintant.wire.peeradmin import GET_BLOCKS, TAKE_BLOCKS
from unit.agents.lightpeer.peer_network import PeerNetwork, persist, query


@pytest_asyncio.fixture
async def network() -> AsyncIterator[PeerNetwork]:
    built = PeerNetwork(seed=4)
    yield built
    await built.close()


async def test_next_block_brings_the_missing_ones(network: PeerNetwork) -> None:
    first, second, last = await network.joined(3)
    last.deaf = True
    for payload in (b"a", b"b"):
        await persist(second, payload)
    last.deaf = False
    network.calls.clear()
    await persist(first, b"c")
    assert await query(last) == [b"c", b"b", b"a"]
    assert not [path for _, _, path in network.calls if path == GET_BLOCKS.path]


async def test_slow_member_is_waited_for_once_and_gets_everything_later(
    network: PeerNetwork,
) -> None:
    first, slow, _ = await network.joined(3)
    await persist(first, b"before")
    slow.pace = 1.5
    loop = asyncio.get_running_loop()
    took = []
    for number in range(3):
        began = loop.time()
        await persist(first, b"%d" % number)
        took.append(loop.time() - began)
    assert 0.9 < took[0] < 1.2
    assert max(took[1:]) < 0.1
    slow.pace = 0.0
    await asyncio.sleep(5)
    assert await query(slow) == await query(first)


async def test_member_has_one_message_under_way_and_the_rest_goes_together(
    network: PeerNetwork,
) -> None:
    first, second = await network.joined(2)
    await persist(first, b"before")
    network.calls.clear()
    second.pace = 0.1
    await asyncio.gather(*(persist(first, b"%d" % number) for number in range(50)))
    told = [path for _, target, path in network.calls if target == second.address]
    assert told.count(TAKE_BLOCKS.path) <= 4
    assert NOTIFY_NEW_BLOCK.path not in told
    assert await query(second) == await query(first)


async def test_blocks_too_long_for_one_message_go_in_several(network: PeerNetwork) -> None:
    first, second, last = await network.joined(3)
    await persist(first, b"begin")
    last.deaf = True
    for _ in range(5):
        await persist(second, bytes(400_000))
    last.deaf = False
    network.calls.clear()
    await persist(second, b"end")
    told = [path for _, target, path in network.calls if target == last.address]
    assert told.count(TAKE_BLOCKS.path) == 3
    assert await query(last) == await query(first)
