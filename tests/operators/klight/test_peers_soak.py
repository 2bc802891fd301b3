"""Peers are killed at any moment while clients write: what was acknowledged is everywhere after."""

from __future__ import annotations

import asyncio
import os

import pytest

from unit.agents.lightpeer.peer_network import (
    Faults,
    PeerHost,
    PeerNetwork,
    attempt,
    members,
    persist,
    query,
)

PEERS = 5
KILLS = 6
SEEDS = 20 if os.environ.get("QUINTANT_SOAK") else 2
"""Of each kind; `make soak` tries them all."""
CALM_SECONDS = 60.0
"""After the last fault: enough for every former member to be looked at."""


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_acknowledged_write_is_on_every_member_whoever_was_killed(seed: int) -> None:
    await _soak(PeerNetwork(seed), Faults(slow=0.02, doubled=0.02), down=(0.0, 4.0))


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_messages_get_lost_and_nothing_acknowledged_does(seed: int) -> None:
    await _soak(PeerNetwork(100 + seed), Faults(lost=0.02, slow=0.05), down=(0.0, 8.0))


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_split_network_grows_together_with_everything_written(seed: int) -> None:
    network = PeerNetwork(200 + seed)
    hosts = await network.joined(PEERS)
    cut = network.chance.randint(1, PEERS - 1)
    network.faults.cut = {
        frozenset((one.address, two.address)) for one in hosts[:cut] for two in hosts[cut:]
    }
    acknowledged: list[bytes] = []
    writers = [asyncio.create_task(_write(host, acknowledged)) for host in hosts]
    await asyncio.sleep(20)
    network.faults.cut = set()
    for writer in writers:
        writer.cancel()
    for _ in range(PEERS):
        await asyncio.sleep(network.chance.uniform(0, 5))
        victim = network.chance.choice(hosts)
        await victim.crash()
        await victim.start()
    await asyncio.sleep(3 * CALM_SECONDS)
    await _alike(hosts, acknowledged)
    await network.close()


async def _soak(network: PeerNetwork, faults: Faults, down: tuple[float, float]) -> None:
    hosts = await network.joined(PEERS)
    network.faults = faults
    acknowledged: list[bytes] = []
    writers = [asyncio.create_task(_write(host, acknowledged)) for host in hosts]
    for _ in range(KILLS):
        await asyncio.sleep(network.chance.uniform(0, 8))
        victim = network.chance.choice(hosts)
        await victim.crash()
        await asyncio.sleep(network.chance.uniform(*down))
        await victim.start()
    for writer in writers:
        writer.cancel()
    network.faults = Faults()
    await asyncio.sleep(CALM_SECONDS)
    await _alike(hosts, acknowledged)
    await network.close()


async def _write(host: PeerHost, acknowledged: list[bytes]) -> None:
    number = 0
    while True:
        number += 1
        payload = f"{host.address} {number}".encode()
        if host.peer is not None and await attempt(persist(host, payload)):
            acknowledged.append(payload)
        await asyncio.sleep(host.network.chance.uniform(0, 0.5))


async def _alike(hosts: list[PeerHost], acknowledged: list[bytes]) -> None:
    chains = [await query(host) for host in hosts]
    assert len(acknowledged) > PEERS
    for host, chain in zip(hosts, chains, strict=True):
        assert set(acknowledged) <= set(chain), host.address
        assert len(set(chain)) == len(chain), "something is there twice"
        assert chain == chains[0]
        assert set(members(host)) == {each.address for each in hosts}
        assert members(host) == members(hosts[0])
