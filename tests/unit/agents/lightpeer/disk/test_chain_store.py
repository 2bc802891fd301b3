"""A chain store has on the disk what it has in memory, and gives every block its one place."""

from __future__ import annotations

import asyncio

import pytest

from quintant.agents.lightpeer.chain.block import payload_of
from quintant.agents.lightpeer.chain.chain import Link
from quintant.agents.lightpeer.chain.pending import Taken
from quintant.agents.lightpeer.disk.chain_store import ChainStore
from quintant.agents.lightpeer.disk.store import Store
from quintant.agents.lightpeer.rpc.calls import Failed
from quintant.agents.lightpeer.scope import Scope
from quintant.wire.lightpeer import BlockType, Lightblock, PeerInfo
from unit.agents.lightpeer.peer_network import MemoryDisk, worker

ME = PeerInfo("10.0.0.1:9081")
OTHER = PeerInfo("10.0.0.2:9081")


def client(identity: str, previous: str = "") -> Lightblock:
    return Lightblock(identity, identity.encode(), previous, BlockType.CLIENT)


async def opened(disk: MemoryDisk) -> ChainStore:
    store = ChainStore(Store(disk), worker, ME, Scope())
    await store.open()
    return store


async def test_block_is_taken_once_and_only_where_it_belongs() -> None:
    store = await opened(MemoryDisk())
    assert await store.take(client("a")) is Taken.NEW
    assert await store.take(client("a")) is Taken.KNOWN
    assert await store.take(client("c", "b")) is Taken.APART
    assert await store.take(client("b", "a")) is Taken.NEW
    assert await store.take(client("a.77", "b")) is Taken.KNOWN
    assert store.chain.ids == ["a", "b"]


async def test_many_writers_share_a_write_and_each_has_its_place() -> None:
    disk = MemoryDisk()
    store = await opened(disk)
    loop = asyncio.get_running_loop()
    began = loop.time()
    placed = await asyncio.gather(*(store.order(client(f"b{number}")) for number in range(50)))
    assert loop.time() - began < 0.01
    assert [each.previous for each in placed if each] == ["", *store.chain.ids[:-1]]
    assert (await opened(disk)).chain.ids == store.chain.ids


async def test_change_of_members_is_refused_after_another_one() -> None:
    store = await opened(MemoryDisk())
    first = Lightblock("n1", payload_of([ME, OTHER]))
    second = Lightblock("n2", payload_of([ME]))
    outcomes = await asyncio.gather(
        store.order(first, stale=False), store.order(second, stale=False), return_exceptions=True
    )
    assert isinstance(outcomes[1], Failed)
    assert store.members == (ME, OTHER)


async def test_failed_write_leaves_memory_and_disk_as_they_were() -> None:
    disk = MemoryDisk()
    store = await opened(disk)
    await store.take(client("a"))
    disk.room = 0
    with pytest.raises(Failed, match="No space left"):
        await store.take(client("b", "a"))
    assert store.chain.ids == (await opened(disk)).chain.ids == ["a"]


async def test_turning_to_a_better_chain_keeps_what_clients_wrote_until_it_is_written_again() -> (
    None
):
    disk = MemoryDisk()
    store = await opened(disk)
    await store.take(client("a"))
    await store.take(client("mine", "a"))
    network = Lightblock("n", payload_of([OTHER]), "a")
    await store.stage([network])
    links = [Link("n", BlockType.NETWORK)]
    assert await store.adopt("a", links, keep=True, force=False)
    for each in (store, await opened(disk)):
        assert each.chain.ids == ["a", "n"]
        assert each.lost == ("mine",)
        assert each.members == (OTHER, ME)
        assert not each.listed
    await store.found(["mine"])
    assert (await opened(disk)).lost == ()


async def test_chain_that_is_no_better_is_not_turned_to() -> None:
    store = await opened(MemoryDisk())
    await store.take(client("a"))
    await store.take(client("b", "a"))
    await store.stage([client("c", "a")])
    other = [Link("c", BlockType.CLIENT)]
    assert not await store.adopt("a", other, keep=True, force=False)
    assert store.chain.ids == ["a", "b"]


async def test_news_wake_whoever_waits_and_time_ends_the_wait() -> None:
    store = await opened(MemoryDisk())
    waiting = asyncio.create_task(store.until(lambda: "a" in store.chain, 5))
    await store.take(client("a"))
    assert await waiting
    assert not await store.until(lambda: "b" in store.chain, 5)
