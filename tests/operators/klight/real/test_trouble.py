"""Real peers in trouble: restarted, moved, stopped, killed in a join, and not peers at all."""

from __future__ import annotations

import asyncio
import os
import signal

import patience
from quintant.wire.lightpeer import PORT
from testbeds.real_peers import NETWORK, RealPeersTestbed, persist, query, shoot

LARGE = b"x" * 100_000
BLOCKS = 100
"""A chain of 10 MB takes a join long enough to be struck in it."""


async def test_restarted_peer_is_one_member_and_writing_goes_on(testbed: RealPeersTestbed) -> None:
    await testbed.start()
    for name in ("p1", "p2", "p3"):
        await testbed.pod(name)
    await testbed.formed(3)
    before = len(testbed.peers.joins)
    others = [address for pod, address in (await testbed.addresses()).items() if pod != "p2"]
    shoot(await testbed.process("p2"))
    await asyncio.sleep(2)
    assert all([await persist(others[0], b"%d" % number) for number in range(20)])
    await testbed.formed(3)
    assert len(testbed.peers.joins) - before <= 1
    members = sorted((await testbed.addresses()).values())
    for each in members:
        status = await testbed.peers.status(each, 2)
        assert status is not None
        assert sorted(member.address for member in status.members) == members


async def test_relabelled_peer_leaves_one_network_and_is_in_the_other(
    testbed: RealPeersTestbed,
) -> None:
    await testbed.start()
    for name in ("x1", "x2", "x3"):
        await testbed.pod(name, "x")
    await testbed.pod("y1", "y")
    await testbed.until(lambda: _sees(testbed, "x1", "x1", "x2", "x3"))
    await testbed.until(lambda: _recorded(testbed, "y1"))
    await testbed.label("x3", "y")
    await testbed.until(lambda: _sees(testbed, "x1", "x1", "x2"))
    await testbed.until(lambda: _sees(testbed, "y1", "y1", "x3"))
    addresses = await testbed.addresses()
    assert await persist(addresses["x1"], b"of x")
    assert await persist(addresses["x3"], b"of y")
    assert await query(addresses["x2"]) == [b"of x"]
    assert b"of x" not in await query(addresses["y1"])


async def test_stopped_joiner_costs_nobody_else_and_joins_when_it_goes_on(
    testbed: RealPeersTestbed,
) -> None:
    await testbed.start()
    await testbed.pod("p1")
    await testbed.formed(1)
    await testbed.kill()
    await testbed.pod("hung")
    stopped = await testbed.process("hung")
    os.kill(stopped, signal.SIGSTOP)
    await testbed.start()
    await testbed.pod("p2")
    await testbed.until(lambda: _recorded(testbed, "p2"))
    assert not await _recorded(testbed, "hung")
    os.kill(stopped, signal.SIGCONT)
    await testbed.formed(3)


async def test_joiner_killed_in_a_join_founds_nothing_and_is_a_member_later(
    testbed: RealPeersTestbed,
) -> None:
    await testbed.start()
    for name in ("p1", "p2"):
        await testbed.pod(name)
    await testbed.formed(2)
    contact = (await testbed.addresses())["p1"]
    for number in range(BLOCKS):
        assert await persist(contact, b"%d" % number + LARGE)
    before = len(testbed.peers.joins)
    await testbed.pod("p3")
    victim = await testbed.process("p3")
    async with patience.within(testbed.patience):
        while len(testbed.peers.joins) == before:  # noqa: ASYNC110 - at once, not soon
            await asyncio.sleep(0.005)
    shoot(victim)
    await testbed.formed(3)
    assert "NetworkFormed" not in await testbed.events("p3")
    joined = (await testbed.addresses())["p3"]
    await testbed.until(lambda: _has(joined, BLOCKS))


async def test_web_server_on_the_port_is_named_and_harms_nobody(testbed: RealPeersTestbed) -> None:
    await testbed.start()
    await testbed.pod("p1")
    await testbed.formed(1)
    web = {"name": "web", "image": "quintant/echo", "args": [f"--port={PORT}"]}
    await testbed.pod("odd", containers=[web])
    await testbed.pod("p2")
    await testbed.until(lambda: _recorded(testbed, "p2"))

    async def named() -> bool:
        return "NotALightpeer" in await testbed.events("odd")

    await testbed.until(named)
    assert set(await testbed.addresses()) == {"p1", "p2"}
    assert (await testbed.shown(NETWORK)).spec.network_id == NETWORK


async def _recorded(testbed: RealPeersTestbed, name: str) -> bool:
    return name in await testbed.addresses()


async def _sees(testbed: RealPeersTestbed, name: str, *others: str) -> bool:
    addresses = await testbed.addresses()
    wanted = {addresses.get(each, "") for each in others}
    return name in addresses and await testbed.view(addresses[name]) == wanted


async def _has(address: str, blocks: int) -> bool:
    return len(await query(address)) == blocks
