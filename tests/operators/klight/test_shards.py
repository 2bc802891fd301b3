"""Several members: a network is one's, and nothing that another one knew of it is believed."""

from __future__ import annotations

from quintant import Shards
from quintant.runtime.manager.engine import Engine
from testbeds.klight import KlightTestbed

NETWORKS = tuple(f"n{number}" for number in range(12))
FIRST_SECONDS = 24.0
"""A new map works after 17 s, and members that join count after 5 s of quiet."""
MOVE_SECONDS = 20.0


def counted(engine: Engine, series: str) -> float:
    """The sum of a series over its labels."""
    lines = engine.metrics.render().decode().splitlines()
    pairs = (line.rpartition(" ") for line in lines)
    return sum(float(value) for name, _, value in pairs if name.partition("{")[0] == series)


async def member(testbed: KlightTestbed) -> Engine:
    return await testbed.start(shards=Shards(ranges=8))


async def test_series_of_members_add_up_when_networks_have_moved(testbed: KlightTestbed) -> None:
    one = await member(testbed)
    await testbed.cluster.advance(FIRST_SECONDS)
    for network in NETWORKS:
        await testbed.pod(f"p-{network}", network, peer={})
    await testbed.cluster.advance(5)
    assert counted(one, "klight_networks") == len(NETWORKS)
    two = await member(testbed)
    await testbed.cluster.advance(MOVE_SECONDS)
    for series in ("klight_networks", "klight_members"):
        parts = [counted(each, series) for each in (one, two)]
        assert sum(parts) == len(NETWORKS)
        assert 0 < parts[0] < len(NETWORKS)


async def test_no_peer_is_joined_again_because_its_network_moved(testbed: KlightTestbed) -> None:
    one = await member(testbed)
    await testbed.cluster.advance(FIRST_SECONDS)
    for network in NETWORKS:
        await testbed.pod(f"p-{network}", network, peer={})
        await testbed.pod(f"q-{network}", network, peer={})
    await testbed.cluster.advance(10)
    joined = list(testbed.peers.joins())
    assert len(joined) == len(NETWORKS)
    await member(testbed)
    await testbed.cluster.advance(MOVE_SECONDS)
    await testbed.cluster.crash(one)
    await testbed.cluster.advance(2 * MOVE_SECONDS)
    assert testbed.peers.joins() == joined
