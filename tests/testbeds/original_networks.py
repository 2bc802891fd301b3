"""What is tried with networks of original peers: with the original itself, and with a stand-in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from quintant.api.meta import condition_of
from quintant.operators.klight.api.lightnetwork import WRITABLE
from testbeds.originals import OriginalsTestbed
from testbeds.real_peers import persist, query

Scenario = Callable[[OriginalsTestbed], Awaitable[None]]


async def join_write_and_read(originals: OriginalsTestbed) -> None:
    """Pods become members, and whatever one is told all have."""
    await originals.testbed.start()
    for name in ("a", "b", "c"):
        await originals.add(name)
    for number, name in enumerate(("a", "b", "c")):
        assert await persist(originals.address(name), b"%d" % number)
    assert await originals.alike(3) == [b"2", b"1", b"0"]
    assert len(originals.testbed.peers.joins) == 2


async def a_chain_shows_whether_it_was_joined(originals: OriginalsTestbed) -> None:
    """A peer that has no chain says so, as often as it is asked, and is not changed by it."""
    await originals.testbed.start()
    first = await originals.add("a")
    peers = originals.testbed.peers
    assert await peers.blank(first, 5) is True
    assert await peers.blank(first, 5) is True
    assert await query(first) == []
    second = await originals.add("b")
    assert [await peers.blank(each, 5) for each in (first, second)] == [False, False]
    assert await persist(second, b"x")
    assert await originals.alike(1) == [b"x"]


async def kill_and_rejoin(originals: OriginalsTestbed) -> None:
    """One that died is dropped; the others can write, and it comes back."""
    await originals.testbed.start()
    for name in ("a", "b", "c"):
        await originals.add(name)
    await originals.kill("b")
    await originals.dropped("b")

    async def written() -> bool:
        return await persist(originals.address("a"), b"without")

    await originals.testbed.until(written)
    await originals.start("b")
    await originals.run("b", life=2)
    await originals.joined("b")
    have = await query(originals.address("a"))
    assert await persist(originals.address("b"), b"again")
    assert (await originals.alike(len(have) + 1))[0] == b"again"


async def restart_of_the_controller(originals: OriginalsTestbed) -> None:
    """Whoever is a member stays one, though no record says so any more."""
    await originals.testbed.start()
    for name in ("a", "b", "c"):
        await originals.add(name)
    await originals.testbed.kill()
    before = len(originals.testbed.peers.joins)
    await originals.wipe()
    await originals.testbed.start()
    for name in ("a", "b", "c"):
        await originals.joined(name)
    assert len(originals.testbed.peers.joins) == before
    assert await persist(originals.address("c"), b"x")
    assert await originals.alike(1) == [b"x"]


async def mixed_network(originals: OriginalsTestbed) -> None:
    """Peers of ours and of the original are one network, whoever is written to."""
    await originals.testbed.start()
    for name, make in (("a", "ours"), ("b", "original"), ("c", "ours"), ("d", "original")):
        await originals.add(name, make)
    for number, name in enumerate(("a", "b", "c", "d")):
        assert await persist(originals.address(name), b"%d" % number)
        await originals.alike(number + 1)


async def double_entry_is_mended(originals: OriginalsTestbed) -> None:
    """A member that is listed twice stops all writes; a repair ends that and keeps everything."""
    await originals.testbed.start()
    for name in ("a", "b", "c"):
        await originals.add(name)
    assert await persist(originals.address("a"), b"kept")
    await originals.join_again("b", "a")
    assert not await persist(originals.address("a"), b"half")

    async def shown() -> bool:
        status = (await originals.testbed.shown()).status
        found = condition_of(status.conditions, WRITABLE) if status else None
        return found is not None and found.status == "False"

    await originals.testbed.until(shown)
    await originals.ask_for_repair("now")
    for number, name in enumerate(("a", "b", "c")):
        assert await persist(originals.address(name), b"%d" % number)
    assert await originals.alike(5) == [b"2", b"1", b"0", b"half", b"kept"]


SCENARIOS: tuple[Scenario, ...] = (
    join_write_and_read,
    a_chain_shows_whether_it_was_joined,
    kill_and_rejoin,
    restart_of_the_controller,
    mixed_network,
    double_entry_is_mended,
)
