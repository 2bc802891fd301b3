"""Real peers in trouble: restarted, moved, stopped, killed in a join, and not peers at all."""

from __future__ import annotations

import asyncio
import os
import signal

from quintant.wire.lightpeer import PORT
from testbeds.real_peers import NETWORK, Harbour, persist, query, shoot

LARGE = b"x" * 100_000
BLOCKS = 100
"""A chain of 10 MB takes a join long enough to be struck in it."""


async def test_restarted_peer_is_one_member_and_writing_goes_on(harbour: Harbour) -> None:
    await harbour.start()
    for name in ("p1", "p2", "p3"):
        await harbour.pod(name)
    await harbour.formed(3)
    before = len(harbour.peers.joins)
    others = [address for pod, address in (await harbour.addresses()).items() if pod != "p2"]
    shoot(await harbour.process("p2"))
    await asyncio.sleep(2)
    assert all([await persist(others[0], b"%d" % number) for number in range(20)])
    await harbour.formed(3)
    assert len(harbour.peers.joins) - before <= 1
    members = sorted((await harbour.addresses()).values())
    for each in members:
        status = await harbour.peers.status(each, 2)
        assert status is not None
        assert sorted(member.address for member in status.members) == members


async def test_relabelled_peer_leaves_one_network_and_is_in_the_other(harbour: Harbour) -> None:
    await harbour.start()
    for name in ("x1", "x2", "x3"):
        await harbour.pod(name, "x")
    await harbour.pod("y1", "y")
    await harbour.until(lambda: _sees(harbour, "x1", "x1", "x2", "x3"))
    await harbour.until(lambda: _recorded(harbour, "y1"))
    await harbour.label("x3", "y")
    await harbour.until(lambda: _sees(harbour, "x1", "x1", "x2"))
    await harbour.until(lambda: _sees(harbour, "y1", "y1", "x3"))
    addresses = await harbour.addresses()
    assert await persist(addresses["x1"], b"of x")
    assert await persist(addresses["x3"], b"of y")
    assert await query(addresses["x2"]) == [b"of x"]
    assert b"of x" not in await query(addresses["y1"])


async def test_stopped_joiner_costs_nobody_else_and_joins_when_it_goes_on(harbour: Harbour) -> None:
    await harbour.start()
    await harbour.pod("p1")
    await harbour.formed(1)
    await harbour.kill()
    await harbour.pod("hung")
    stopped = await harbour.process("hung")
    os.kill(stopped, signal.SIGSTOP)
    await harbour.start()
    await harbour.pod("p2")
    await harbour.until(lambda: _recorded(harbour, "p2"))
    assert not await _recorded(harbour, "hung")
    os.kill(stopped, signal.SIGCONT)
    await harbour.formed(3)


async def test_joiner_killed_in_a_join_founds_nothing_and_is_a_member_later(
    harbour: Harbour,
) -> None:
    await harbour.start()
    for name in ("p1", "p2"):
        await harbour.pod(name)
    await harbour.formed(2)
    contact = (await harbour.addresses())["p1"]
    for number in range(BLOCKS):
        assert await persist(contact, b"%d" % number + LARGE)
    before = len(harbour.peers.joins)
    await harbour.pod("p3")
    victim = await harbour.process("p3")
    async with asyncio.timeout(harbour.patience):
        while len(harbour.peers.joins) == before:  # noqa: ASYNC110 - at once, not soon
            await asyncio.sleep(0.005)
    shoot(victim)
    await harbour.formed(3)
    assert "NetworkFormed" not in await harbour.events("p3")
    joined = (await harbour.addresses())["p3"]
    await harbour.until(lambda: _has(joined, BLOCKS))


async def test_web_server_on_the_port_is_named_and_harms_nobody(harbour: Harbour) -> None:
    await harbour.start()
    await harbour.pod("p1")
    await harbour.formed(1)
    web = {"name": "web", "image": "quintant/echo", "args": [f"--port={PORT}"]}
    await harbour.pod("odd", containers=[web])
    await harbour.pod("p2")
    await harbour.until(lambda: _recorded(harbour, "p2"))

    async def named() -> bool:
        return "NotALightpeer" in await harbour.events("odd")

    await harbour.until(named)
    assert set(await harbour.addresses()) == {"p1", "p2"}
    assert (await harbour.shown(NETWORK)).spec.network_id == NETWORK


async def _recorded(harbour: Harbour, name: str) -> bool:
    return name in await harbour.addresses()


async def _sees(harbour: Harbour, name: str, *others: str) -> bool:
    addresses = await harbour.addresses()
    wanted = {addresses.get(each, "") for each in others}
    return name in addresses and await harbour.view(addresses[name]) == wanted


async def _has(address: str, blocks: int) -> bool:
    return len(await query(address)) == blocks
