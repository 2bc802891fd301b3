"""Peers that join each other at the same time: whoever is answered ok is a member."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from quintant.agents.lightpeer.rpc.calls import Failed
from unit.agents.lightpeer.peer_network import (
    PeerHost,
    PeerNetwork,
    attempt,
    join,
    members,
    persist,
    query,
)


@pytest_asyncio.fixture
async def network() -> AsyncIterator[PeerNetwork]:
    built = PeerNetwork(seed=1)
    yield built
    await built.close()


async def started(network: PeerNetwork, count: int) -> list[PeerHost]:
    hosts = [network.host(number) for number in range(1, count + 1)]
    for host in hosts:
        await host.start()
    return hosts


@pytest.mark.parametrize("late", [0.0, 0.001, 0.003, 0.005, 0.008, 0.012, 0.02])
@pytest.mark.parametrize("lower_first", [True, False])
@pytest.mark.parametrize("written", [False, True])
async def test_two_peers_that_join_each_other_at_once_are_one_network(
    network: PeerNetwork, late: float, lower_first: bool, written: bool
) -> None:
    hosts = await started(network, 2)
    if written:
        for host in hosts:
            await persist(host, host.address.encode())
    one, two = hosts if lower_first else reversed(hosts)

    async def later() -> None:
        await asyncio.sleep(late)
        await join(two, one)

    await asyncio.gather(join(one, two), later())
    everybody = {each.address for each in hosts}
    assert [set(members(each)) for each in hosts] == [everybody] * 2
    await asyncio.sleep(20)
    assert [set(members(each)) for each in hosts] == [everybody] * 2
    await persist(one, b"x")
    await persist(two, b"y")
    first, second = [await query(each) for each in hosts]
    assert first == second
    assert first[:2] == [b"y", b"x"]


async def test_the_peer_that_gave_way_says_so_when_the_other_never_comes(
    network: PeerNetwork,
) -> None:
    one, two = await started(network, 2)
    two.pace = 1.0  # Its disk is slow: it has not joined yet when it ends.
    lower, higher = asyncio.create_task(join(one, two)), asyncio.create_task(join(two, one))
    await asyncio.sleep(0.5)
    assert set(members(one)) == {one.address, two.address}
    await two.crash()
    answers = await asyncio.gather(lower, higher, return_exceptions=True)
    assert [type(each) for each in answers] == [Failed, Failed]


@pytest.mark.parametrize("seed", range(20))
async def test_peers_that_join_in_a_circle_are_members_or_are_told_that_they_are_not(
    seed: int,
) -> None:
    network = PeerNetwork(seed)
    one, two, three = hosts = await started(network, 3)
    pairs = [(one, two), (two, three), (three, one)]
    answers = await asyncio.gather(*(attempt(join(*pair)) for pair in pairs))
    for (host, contact), answer in zip(pairs, answers, strict=True):
        assert not answer or {host.address, contact.address} <= set(members(host))
    await asyncio.sleep(20)
    for (host, contact), answer in zip(pairs, answers, strict=True):
        assert not answer or {host.address, contact.address} <= set(members(host))
    await join(two, one)
    await join(three, two)
    assert [set(members(each)) for each in hosts] == [{each.address for each in hosts}] * 3
    await network.close()
