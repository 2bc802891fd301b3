"""Peers are killed at any moment while clients write: what was acknowledged is everywhere after."""

from __future__ import annotations

import asyncio
import os

import pytest

from unit.agents.lightpeer.town import Faults, House, Town, attempt, members, persist, query

PEERS = 5
KILLS = 6
SEEDS = 20 if os.environ.get("QUINTANT_SOAK") else 2
"""Of each kind; `make soak` tries them all."""
CALM_SECONDS = 60.0
"""After the last fault: enough for every former member to be looked at."""


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_acknowledged_write_is_on_every_member_whoever_was_killed(seed: int) -> None:
    await _soak(Town(seed), Faults(slow=0.02, doubled=0.02), down=(0.0, 4.0))


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_messages_get_lost_and_nothing_acknowledged_does(seed: int) -> None:
    await _soak(Town(100 + seed), Faults(lost=0.02, slow=0.05), down=(0.0, 8.0))


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_split_network_grows_together_with_everything_written(seed: int) -> None:
    town = Town(200 + seed)
    houses = await town.network(PEERS)
    cut = town.chance.randint(1, PEERS - 1)
    town.faults.cut = {
        frozenset((one.address, two.address)) for one in houses[:cut] for two in houses[cut:]
    }
    acknowledged: list[bytes] = []
    writers = [asyncio.create_task(_write(house, acknowledged)) for house in houses]
    await asyncio.sleep(20)
    town.faults.cut = set()
    for writer in writers:
        writer.cancel()
    for _ in range(PEERS):
        await asyncio.sleep(town.chance.uniform(0, 5))
        victim = town.chance.choice(houses)
        await victim.crash()
        await victim.start()
    await asyncio.sleep(3 * CALM_SECONDS)
    await _alike(houses, acknowledged)
    await town.close()


async def _soak(town: Town, faults: Faults, down: tuple[float, float]) -> None:
    houses = await town.network(PEERS)
    town.faults = faults
    acknowledged: list[bytes] = []
    writers = [asyncio.create_task(_write(house, acknowledged)) for house in houses]
    for _ in range(KILLS):
        await asyncio.sleep(town.chance.uniform(0, 8))
        victim = town.chance.choice(houses)
        await victim.crash()
        await asyncio.sleep(town.chance.uniform(*down))
        await victim.start()
    for writer in writers:
        writer.cancel()
    town.faults = Faults()
    await asyncio.sleep(CALM_SECONDS)
    await _alike(houses, acknowledged)
    await town.close()


async def _write(house: House, acknowledged: list[bytes]) -> None:
    number = 0
    while True:
        number += 1
        payload = f"{house.address} {number}".encode()
        if house.peer is not None and await attempt(persist(house, payload)):
            acknowledged.append(payload)
        await asyncio.sleep(house.town.chance.uniform(0, 0.5))


async def _alike(houses: list[House], acknowledged: list[bytes]) -> None:
    chains = [await query(house) for house in houses]
    assert len(acknowledged) > PEERS
    for house, chain in zip(houses, chains, strict=True):
        assert set(acknowledged) <= set(chain), house.address
        assert len(set(chain)) == len(chain), "something is there twice"
        assert chain == chains[0]
        assert set(members(house)) == {each.address for each in houses}
        assert members(house) == members(houses[0])
