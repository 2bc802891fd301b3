"""Blocks get one order, whoever proposes them, whoever dies, and whoever has missed something."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

import pytest
import pytest_asyncio

from quintant.wire.lightpeer import BlockType, Lightblock
from unit.agents.lightpeer.peer_network import PeerHost, PeerNetwork, join, members, persist, query

LOOK_SECONDS = 0.85
"""Nobody looks at anybody else by itself so soon after the start."""
MOMENT = 0.3
"""Long enough for a few calls; too short for anybody to look at others by itself."""


@pytest_asyncio.fixture
async def network() -> AsyncIterator[PeerNetwork]:
    built = PeerNetwork(seed=2)
    yield built
    await built.close()


def now() -> float:
    return asyncio.get_running_loop().time()


async def bury(host: PeerHost, others: Iterable[PeerHost]) -> None:
    """End a peer, and have everybody know it."""
    await host.crash()
    for each in others:
        assert each.peer is not None
        each.peer.membership.dead.add(host.address)


async def only(writer: PeerHost, others: Iterable[PeerHost], payload: bytes) -> None:
    """Have a writer keep something that others miss, apart from the first member."""
    for each in others:
        each.deaf = True
    await persist(writer, payload)
    for each in others:
        each.deaf = False


async def test_successor_of_the_first_member_begins_with_the_best_chain(
    network: PeerNetwork,
) -> None:
    first, second, third, writer = await network.joined(4)
    await only(writer, (second, third), b"a")
    assert [await query(each) for each in (writer, second)] == [[b"a"], []]
    await bury(first, (second, third, writer))
    began = now()
    await persist(second, b"b")
    assert now() - began < MOMENT
    assert await query(second) == [b"b", b"a"]
    await asyncio.sleep(5)
    for host in (second, third, writer):
        assert host.peer is not None
        assert await query(host) == [b"b", b"a"]
        assert not any("." in each for each in host.peer.store.chain.ids), "it was written again"


async def test_successor_asks_everybody_only_once(network: PeerNetwork) -> None:
    first, second, third = await network.joined(3)
    await bury(first, (second, third))
    await persist(second, b"a")
    network.calls.clear()
    await persist(second, b"b")
    assert len(network.calls) == 1


async def test_first_member_fetches_what_a_proposal_follows(network: PeerNetwork) -> None:
    first, second, writer = await network.joined(3)
    await bury(first, (second, writer))
    await persist(second, b"a")
    assert second.peer is not None
    assert writer.peer is not None
    # Somebody whom the first member cannot reach has told the writer alone.
    head = second.peer.store.chain.head
    await writer.peer.store.take(Lightblock("extra", b"b", head, BlockType.CLIENT))
    began = now()
    await persist(writer, b"c")
    assert now() - began < MOMENT
    for host in (second, writer):
        assert await query(host) == [b"c", b"b", b"a"]


async def test_refused_proposer_catches_up_and_tries_again_at_once(network: PeerNetwork) -> None:
    hosts = await network.joined(3)
    contact = hosts[2]
    one, two = network.host(8), network.host(9)
    for each in (one, two):
        await each.start()
    contact.deaf = True
    await join(one, hosts[0])
    contact.deaf = False
    assert one.address not in members(contact)
    began = now()
    await join(two, contact)
    assert now() - began < MOMENT
    expected = [each.address for each in (*hosts, one, two)]
    assert members(contact) == members(hosts[0]) == expected


async def test_first_member_turns_to_the_better_chain_of_whoever_refuses(
    network: PeerNetwork,
) -> None:
    first, second = await network.joined(2)
    assert second.peer is not None
    store = second.peer.store
    for identity in ("y", "z"):
        block = Lightblock(identity, identity.encode(), store.chain.head, BlockType.CLIENT)
        await store.take(block)
    began = now()
    await persist(first, b"x")
    assert now() - began < LOOK_SECONDS
    assert await query(first) == await query(second) == [b"x", b"z", b"y"]


async def test_proposer_that_nobody_can_reach_fetches_what_it_missed(network: PeerNetwork) -> None:
    first, _, proposer = await network.joined(3)
    proposer.deaf = True
    await persist(first, b"a")
    assert proposer.peer is not None
    began = now()
    await proposer.peer.persist(b"b")
    assert now() - began < LOOK_SECONDS
    assert await query(first) == [b"b", b"a"]


async def test_peer_that_is_not_first_refuses_and_the_proposer_finds_out_who_is(
    network: PeerNetwork,
) -> None:
    first, second, writer = await network.joined(3)
    assert writer.peer is not None
    writer.peer.membership.dead.add(first.address)
    began = now()
    await persist(writer, b"x")
    assert now() - began < 5
    assert [await query(each) for each in (first, second, writer)] == [[b"x"]] * 3


async def test_write_is_not_acknowledged_before_another_member_has_it(network: PeerNetwork) -> None:
    first, second = await network.joined(2)
    second.hanging = True
    began = now()
    await persist(first, b"x")
    assert now() - began > 1, "the other one was alive until it was asked three times"
    assert members(first) == [first.address, second.address]


async def test_write_at_a_first_member_whom_all_refuse_is_not_acknowledged(
    network: PeerNetwork,
) -> None:
    first, second = await network.joined(2)
    second.disk.room = 0
    writing = asyncio.create_task(persist(first, b"x"))
    await asyncio.sleep(1)
    assert not writing.done()
    second.disk.room = float("inf")
    await writing
    assert await query(second) == [b"x"]


async def test_proposer_does_not_take_a_dead_first_member_for_a_copy(network: PeerNetwork) -> None:
    first, second, writer = await network.joined(3)
    for each in (second, writer):
        each.rest()
    second.deaf = True
    writing = asyncio.create_task(persist(writer, b"x"))
    assert writer.peer is not None
    store = writer.peer.store
    await store.until(lambda: bool(store.chain.clients), 5)
    await first.crash()
    second.deaf = False
    assert not writing.done()
    await writing
    assert await query(second) == [b"x"]


@pytest.mark.parametrize("number", range(3))
async def test_many_writers_cost_few_calls(network: PeerNetwork, number: int) -> None:
    hosts = await network.joined(20)
    network.calls.clear()
    writes = [
        persist(each, b"%d" % count) for each in hosts[:10] for count in range(number * 9 + 1)
    ]
    await asyncio.gather(*writes)
    told = len(network.calls) - len(writes)
    assert told < 19 * 4 + 20
