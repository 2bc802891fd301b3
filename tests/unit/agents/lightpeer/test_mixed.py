"""Our peers and peers of another make are members of one network, in any order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import permutations

import pytest
import pytest_asyncio

from quintant.wire.lightpeer import CONNECT_NEW_PEER, HEALTH_WATCH, JOIN_NETWORK
from unit.agents.lightpeer.opaque import Opaque
from unit.agents.lightpeer.town import House, Town, join, persist, query


@pytest_asyncio.fixture
async def town() -> AsyncIterator[Town]:
    built = Town(seed=5)
    yield built
    await built.close()


def opaque(town: Town, number: int) -> Opaque:
    made = Opaque(town, f"10.0.1.{number}:9081")
    made.open()
    town.houses[made.address] = made
    return made


async def ours(town: Town, number: int) -> House:
    house = town.house(number)
    await house.start()
    return house


@pytest.mark.parametrize("order", list(permutations("oxo")) + list(permutations("oxx")))
async def test_joined_in_any_order_all_have_everything(town: Town, order: str) -> None:
    houses: list[House] = []
    for number, kind in enumerate(order, start=1):
        house = await ours(town, number) if kind == "o" else opaque(town, number)
        if houses:
            await join(house, houses[-1])
        houses.append(house)
    for number, house in enumerate(houses):
        await persist(house, b"%d" % number)
        await asyncio.sleep(1)
    assert [await query(house) for house in houses] == [[b"2", b"1", b"0"]] * 3


async def test_peers_of_another_make_are_asked_nothing_that_ends_them(town: Town) -> None:
    first = opaque(town, 1)
    house = await ours(town, 2)
    await join(house, first)
    town.calls.clear()
    await persist(house, b"x")
    await asyncio.sleep(120)
    asked = {path for _, target, path in town.calls if target == first.address}
    assert asked.isdisjoint({HEALTH_WATCH.path, JOIN_NETWORK.path, CONNECT_NEW_PEER.path})
    assert not any(path.startswith("/klight") for path in asked)


async def test_writes_while_a_peer_of_another_make_joins_reach_it(town: Town) -> None:
    houses = await town.network(2)
    await asyncio.gather(*(persist(houses[0], b"old %d" % number) for number in range(100)))
    newcomer = opaque(town, 1)
    joining = asyncio.create_task(join(newcomer, houses[1]))
    await asyncio.sleep(0.05)
    assert not joining.done()
    await asyncio.gather(*(persist(houses[0], b"%d" % number) for number in range(5)))
    await joining
    await asyncio.sleep(2)
    assert await query(newcomer) == await query(houses[0])
    await persist(newcomer, b"own")
    assert (await query(houses[0]))[0] == b"own"


async def test_dead_peer_of_another_make_is_dropped(town: Town) -> None:
    houses = await town.network(2)
    other = opaque(town, 1)
    await join(other, houses[0])
    await other.crash()
    await asyncio.sleep(10)
    for house in houses:
        assert house.peer is not None
        assert other.address not in [each.address for each in house.peer.store.members]
    await persist(houses[1], b"x")
    assert await query(houses[0]) == [b"x"]


async def test_peer_of_another_make_that_refuses_for_a_moment_misses_nothing(town: Town) -> None:
    houses = await town.network(2)
    other = opaque(town, 1)
    await join(other, houses[0])
    head, other.head = other.head, "writing"
    writing = asyncio.create_task(persist(houses[0], b"x"))
    await asyncio.sleep(0.15)
    other.head = head
    await writing
    assert await query(other) == [b"x"]
