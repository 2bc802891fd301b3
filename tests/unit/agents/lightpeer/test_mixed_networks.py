"""Our peers and peers of another make are members of one network, in any order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import permutations

import pytest
import pytest_asyncio

from quintant.wire.lightpeer import CONNECT_NEW_PEER, HEALTH_WATCH, JOIN_NETWORK
from unit.agents.lightpeer.other_peer import OtherPeer
from unit.agents.lightpeer.peer_network import PeerHost, PeerNetwork, join, persist, query


@pytest_asyncio.fixture
async def network() -> AsyncIterator[PeerNetwork]:
    built = PeerNetwork(seed=5)
    yield built
    await built.close()


def opaque(network: PeerNetwork, number: int) -> OtherPeer:
    made = OtherPeer(network, f"10.0.1.{number}:9081")
    made.open()
    network.hosts[made.address] = made
    return made


async def ours(network: PeerNetwork, number: int) -> PeerHost:
    host = network.host(number)
    await host.start()
    return host


@pytest.mark.parametrize("order", list(permutations("oxo")) + list(permutations("oxx")))
async def test_joined_in_any_order_all_have_everything(network: PeerNetwork, order: str) -> None:
    hosts: list[PeerHost] = []
    for number, kind in enumerate(order, start=1):
        host = await ours(network, number) if kind == "o" else opaque(network, number)
        if hosts:
            await join(host, hosts[-1])
        hosts.append(host)
    for number, host in enumerate(hosts):
        await persist(host, b"%d" % number)
        await asyncio.sleep(1)
    assert [await query(host) for host in hosts] == [[b"2", b"1", b"0"]] * 3


async def test_peers_of_another_make_are_asked_nothing_that_ends_them(network: PeerNetwork) -> None:
    first = opaque(network, 1)
    host = await ours(network, 2)
    await join(host, first)
    network.calls.clear()
    await persist(host, b"x")
    await asyncio.sleep(120)
    asked = {path for _, target, path in network.calls if target == first.address}
    assert asked.isdisjoint({HEALTH_WATCH.path, JOIN_NETWORK.path, CONNECT_NEW_PEER.path})
    assert not any(path.startswith("/klight") for path in asked)


async def test_writes_while_a_peer_of_another_make_joins_reach_it(network: PeerNetwork) -> None:
    hosts = await network.joined(2)
    await asyncio.gather(*(persist(hosts[0], b"old %d" % number) for number in range(100)))
    newcomer = opaque(network, 1)
    joining = asyncio.create_task(join(newcomer, hosts[1]))
    await asyncio.sleep(0.05)
    assert not joining.done()
    await asyncio.gather(*(persist(hosts[0], b"%d" % number) for number in range(5)))
    await joining
    await asyncio.sleep(2)
    assert await query(newcomer) == await query(hosts[0])
    await persist(newcomer, b"own")
    assert (await query(hosts[0]))[0] == b"own"


async def test_dead_peer_of_another_make_is_dropped(network: PeerNetwork) -> None:
    hosts = await network.joined(2)
    other = opaque(network, 1)
    await join(other, hosts[0])
    await other.crash()
    await asyncio.sleep(10)
    for host in hosts:
        assert host.peer is not None
        assert other.address not in [each.address for each in host.peer.store.members]
    await persist(hosts[1], b"x")
    assert await query(hosts[0]) == [b"x"]


async def test_peer_of_another_make_that_refuses_for_a_moment_misses_nothing(
    network: PeerNetwork,
) -> None:
    hosts = await network.joined(2)
    other = opaque(network, 1)
    await join(other, hosts[0])
    head, other.head = other.head, "writing"
    writing = asyncio.create_task(persist(hosts[0], b"x"))
    await asyncio.sleep(0.15)
    other.head = head
    await writing
    assert await query(other) == [b"x"]
