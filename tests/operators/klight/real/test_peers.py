"""Real lightpeers, each a process in a pod: they form networks, lose members, and lose nothing."""

from __future__ import annotations

import asyncio

import patience
from testbeds.real_peers import RealPeersTestbed, persist, query, shoot


async def test_three_peers_become_one_network_that_keeps_what_is_written(
    testbed: RealPeersTestbed,
) -> None:
    await testbed.start()
    for name in ("p1", "p2", "p3"):
        await testbed.pod(name)
    await testbed.formed(3)
    addresses = sorted((await testbed.addresses()).values())
    assert await persist(addresses[0], b"kept")

    async def everywhere() -> bool:
        return all([await query(each) == [b"kept"] for each in addresses])

    await testbed.until(everywhere)
    assert len(testbed.peers.joins) == 2


async def test_peers_drop_a_dead_member_themselves_and_a_new_controller_joins_nobody(
    testbed: RealPeersTestbed,
) -> None:
    await testbed.start()
    for number in range(5):
        await testbed.pod(f"p{number}")
    await testbed.formed(5)
    await testbed.kill()
    before = len(testbed.peers.joins)
    await testbed.delete("p4", grace=0)
    members = set((await testbed.addresses()).values())
    assert len(members) == 4

    async def shrunk() -> bool:
        return all([await testbed.view(each) == members for each in members])

    async with patience.within(20):
        await testbed.until(shrunk)
    assert all([await persist(each, each.encode()) for each in members])
    await testbed.start()
    await testbed.formed(4)
    await asyncio.sleep(5)
    assert len(testbed.peers.joins) == before


async def test_killed_process_is_a_member_again_with_all_it_had(testbed: RealPeersTestbed) -> None:
    await testbed.start()
    for name in ("p1", "p2", "p3"):
        await testbed.pod(name)
    await testbed.formed(3)
    addresses = sorted((await testbed.addresses()).values())
    assert await persist(addresses[1], b"before")
    shoot(testbed.processes()[0])
    assert any([await persist(each, b"after") for each in addresses])

    async def healed() -> bool:
        if {len(await testbed.view(each)) for each in addresses} != {3}:
            return False
        return all([{b"before", b"after"} <= set(await query(each)) for each in addresses])

    await testbed.until(healed)
    assert set((await testbed.addresses()).values()) == set(addresses)
