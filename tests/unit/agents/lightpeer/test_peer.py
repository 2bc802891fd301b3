"""Networks of lightpeers agree, whatever happens to their messages and processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from unit.agents.lightpeer.town import Town, join, members, persist, query


@pytest_asyncio.fixture
async def town() -> AsyncIterator[Town]:
    built = Town(seed=1)
    yield built
    await built.close()


async def test_peer_alone_keeps_what_clients_write(town: Town) -> None:
    [house] = await town.network(1)
    await persist(house, b"a")
    await persist(house, b"b")
    assert await query(house) == [b"b", b"a"]


async def test_joined_peers_have_one_list_and_one_chain(town: Town) -> None:
    houses = await town.network(3)
    for number, house in enumerate(houses):
        await persist(house, b"%d" % number)
    for house in houses:
        assert members(house) == [each.address for each in houses]
        assert await query(house) == [b"2", b"1", b"0"]


async def test_concurrent_writers_are_ordered_alike_and_none_is_lost(town: Town) -> None:
    houses = await town.network(6)
    payloads = [b"%d-%d" % (one, two) for one in range(6) for two in range(50)]
    await asyncio.gather(*(persist(houses[int(each.split(b"-")[0])], each) for each in payloads))
    chains = [await query(house) for house in houses]
    assert sorted(chains[0]) == sorted(payloads)
    assert all(chain == chains[0] for chain in chains)


@pytest.mark.parametrize("victim", range(5))
async def test_dead_peer_is_dropped_and_everybody_can_write(town: Town, victim: int) -> None:
    houses = await town.network(5)
    await persist(houses[0], b"before")
    await houses[victim].crash()
    await asyncio.sleep(10)
    living = [each for each in houses if each.peer is not None]
    for house in living:
        assert members(house) == [each.address for each in living]
        await persist(house, house.address.encode())
    for house in living:
        assert await query(house) == [
            *(each.address.encode() for each in reversed(living)),
            b"before",
        ]


async def test_joining_again_changes_nothing(town: Town) -> None:
    houses = await town.network(3)
    for house in houses:
        await join(house, houses[0] if house is not houses[0] else houses[1])
    assert members(houses[0]) == [each.address for each in houses]
    await persist(houses[1], b"x")
    assert [await query(house) for house in houses] == [[b"x"]] * 3
