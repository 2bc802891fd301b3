"""Blocks get one order, whoever proposes them, whoever dies, and whoever has missed something."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

import pytest
import pytest_asyncio

from quintant.wire.lightpeer import BlockType, Lightblock
from unit.agents.lightpeer.town import House, Town, join, members, persist, query

LOOK_SECONDS = 0.85
"""Nobody looks at anybody else by itself so soon after the start."""
MOMENT = 0.3
"""Long enough for a few calls; too short for anybody to look at others by itself."""


@pytest_asyncio.fixture
async def town() -> AsyncIterator[Town]:
    built = Town(seed=2)
    yield built
    await built.close()


def now() -> float:
    return asyncio.get_running_loop().time()


async def bury(house: House, others: Iterable[House]) -> None:
    """End a peer, and have everybody know it."""
    await house.crash()
    for each in others:
        assert each.peer is not None
        each.peer.membership.dead.add(house.address)


async def only(writer: House, others: Iterable[House], payload: bytes) -> None:
    """Have a writer keep something that others miss, apart from the first member."""
    for each in others:
        each.deaf = True
    await persist(writer, payload)
    for each in others:
        each.deaf = False


async def test_successor_of_the_first_member_begins_with_the_best_chain(town: Town) -> None:
    first, second, third, writer = await town.network(4)
    await only(writer, (second, third), b"a")
    assert [await query(each) for each in (writer, second)] == [[b"a"], []]
    await bury(first, (second, third, writer))
    began = now()
    await persist(second, b"b")
    assert now() - began < MOMENT
    assert await query(second) == [b"b", b"a"]
    await asyncio.sleep(5)
    for house in (second, third, writer):
        assert house.peer is not None
        assert await query(house) == [b"b", b"a"]
        assert not any("." in each for each in house.peer.store.chain.ids), "it was written again"


async def test_successor_asks_everybody_only_once(town: Town) -> None:
    first, second, third = await town.network(3)
    await bury(first, (second, third))
    await persist(second, b"a")
    town.calls.clear()
    await persist(second, b"b")
    assert len(town.calls) == 1


async def test_first_member_fetches_what_a_proposal_follows(town: Town) -> None:
    first, second, writer = await town.network(3)
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
    for house in (second, writer):
        assert await query(house) == [b"c", b"b", b"a"]


async def test_refused_proposer_catches_up_and_tries_again_at_once(town: Town) -> None:
    houses = await town.network(3)
    contact = houses[2]
    one, two = town.house(8), town.house(9)
    for each in (one, two):
        await each.start()
    contact.deaf = True
    await join(one, houses[0])
    contact.deaf = False
    assert one.address not in members(contact)
    began = now()
    await join(two, contact)
    assert now() - began < MOMENT
    expected = [each.address for each in (*houses, one, two)]
    assert members(contact) == members(houses[0]) == expected


async def test_first_member_turns_to_the_better_chain_of_whoever_refuses(town: Town) -> None:
    first, second = await town.network(2)
    assert second.peer is not None
    store = second.peer.store
    for identity in ("y", "z"):
        block = Lightblock(identity, identity.encode(), store.chain.head, BlockType.CLIENT)
        await store.take(block)
    began = now()
    await persist(first, b"x")
    assert now() - began < LOOK_SECONDS
    assert await query(first) == await query(second) == [b"x", b"z", b"y"]


async def test_proposer_that_nobody_can_reach_fetches_what_it_missed(town: Town) -> None:
    first, _, proposer = await town.network(3)
    proposer.deaf = True
    await persist(first, b"a")
    assert proposer.peer is not None
    began = now()
    await proposer.peer.persist(b"b")
    assert now() - began < LOOK_SECONDS
    assert await query(first) == [b"b", b"a"]


async def test_peer_that_is_not_first_refuses_and_the_proposer_finds_out_who_is(
    town: Town,
) -> None:
    first, second, writer = await town.network(3)
    assert writer.peer is not None
    writer.peer.membership.dead.add(first.address)
    began = now()
    await persist(writer, b"x")
    assert now() - began < 5
    assert [await query(each) for each in (first, second, writer)] == [[b"x"]] * 3


async def test_write_is_not_acknowledged_before_another_member_has_it(town: Town) -> None:
    first, second = await town.network(2)
    second.hanging = True
    began = now()
    await persist(first, b"x")
    assert now() - began > 1, "the other one was alive until it was asked three times"
    assert members(first) == [first.address, second.address]


async def test_write_at_a_first_member_whom_all_refuse_is_not_acknowledged(town: Town) -> None:
    first, second = await town.network(2)
    second.disk.room = 0
    writing = asyncio.create_task(persist(first, b"x"))
    await asyncio.sleep(1)
    assert not writing.done()
    second.disk.room = float("inf")
    await writing
    assert await query(second) == [b"x"]


async def test_proposer_does_not_take_a_dead_first_member_for_a_copy(town: Town) -> None:
    first, second, writer = await town.network(3)
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
async def test_many_writers_cost_few_calls(town: Town, number: int) -> None:
    houses = await town.network(20)
    town.calls.clear()
    writes = [
        persist(each, b"%d" % count) for each in houses[:10] for count in range(number * 9 + 1)
    ]
    await asyncio.gather(*writes)
    told = len(town.calls) - len(writes)
    assert told < 19 * 4 + 20
