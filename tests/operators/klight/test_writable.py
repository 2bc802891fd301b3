"""A network in which nobody can write is not ready, and can be mended."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.api.meta import condition_of
from quintant.core.object import replace
from quintant.operators.klight.api.lightnetwork import REPAIR, WRITABLE
from quintant.operators.klight.options import Options
from quintant.testing import writes
from quintant.wire.lightpeer import Timestamp
from quintant.wire.peeradmin import LastOrder
from testbeds.klight import KlightTestbed, Mood

REFUSED = "could not send new block notifications: no agreement in time"


async def condition(testbed: KlightTestbed, name: str) -> tuple[str, str]:
    status = (await testbed.shown()).status
    assert status is not None
    found = condition_of(status.conditions, name)
    assert found is not None
    return found.status, found.reason


async def originals(testbed: KlightTestbed, *names: str) -> None:
    for name in names:
        await testbed.pod(name, peer={"own": False})
        await testbed.cluster.advance(2)


async def doubled(testbed: KlightTestbed) -> list[str]:
    """A network of originals, one of which somebody else joined a second time."""
    await originals(testbed, "p1", "p2", "p3")
    where = [await testbed.address(name) for name in ("p1", "p2", "p3")]
    answer = await testbed.peers.join(where[1], where[0], 5)
    assert answer.code == "OK"
    assert testbed.peers.models[where[0]].view.count(where[1]) == 2
    assert not testbed.peers.persist(where[0], "x")
    assert not testbed.peers.persist(where[2], "y")
    return where


async def ask_for_repair(testbed: KlightTestbed) -> None:
    shown = await testbed.shown()
    meta = replace(shown.metadata, annotations={REPAIR: "now"})
    await testbed.cluster.client.patch(replace(shown, metadata=meta), since=shown)


def ordered(testbed: KlightTestbed, address: str, at: int, failure: str = "") -> None:
    testbed.peers.models[address].order = LastOrder(Timestamp(at), failure)


async def test_network_whose_last_write_failed_is_not_ready_until_one_succeeds(
    testbed: KlightTestbed,
) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    assert await condition(testbed, WRITABLE) == ("True", "NoFailure")
    address = await testbed.address("p1")
    ordered(testbed, address, 1000, REFUSED)
    await testbed.cluster.advance(15)
    assert await condition(testbed, WRITABLE) == ("False", "WriteFailed")
    assert await condition(testbed, "Ready") == ("False", "NotWritable")
    assert {"NotWritable", "Degraded"} <= set(await testbed.events("a"))
    ordered(testbed, address, 1010)
    await testbed.cluster.advance(15)
    assert await condition(testbed, WRITABLE) == ("True", "NoFailure")
    assert await condition(testbed, "Ready") == ("True", "Ready")


@pytest.mark.parametrize(("success", "status"), [(990, "True"), (1005, "True"), (100, "False")])
async def test_one_failed_write_says_little_where_others_succeed(
    testbed: KlightTestbed, success: int, status: str
) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    ordered(testbed, await testbed.address("p1"), 1000, REFUSED)
    ordered(testbed, await testbed.address("p2"), success)
    await testbed.cluster.advance(15)
    assert (await condition(testbed, WRITABLE))[0] == status


async def test_write_check_costs_nothing_at_rest(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", "p3")
    await testbed.cluster.advance(60)
    calls, before = len(testbed.peers.calls), len(testbed.cluster.faults.seen(writes))
    await testbed.cluster.advance(600)
    made = testbed.peers.calls[calls:]
    assert {call.method for call in made} == {"check", "status"}
    sweeps = sum(call.method == "check" for call in made) / 3
    assert sum(call.method == "status" for call in made) <= sweeps + 1
    assert len(testbed.cluster.faults.seen(writes)) == before


async def test_double_entry_of_an_original_is_seen_and_mended_on_request(
    testbed: KlightTestbed,
) -> None:
    await testbed.start()
    where = await doubled(testbed)
    await testbed.cluster.advance(150)
    assert await condition(testbed, WRITABLE) == ("False", "Forked")
    assert await condition(testbed, "Ready") == ("False", "NotWritable")
    assert "NotWritable" in await testbed.events("a")
    await ask_for_repair(testbed)
    await testbed.cluster.advance(30)
    models = [testbed.peers.models[each] for each in where]
    assert all(sorted(model.view) == sorted(where) for model in models)
    assert testbed.peers.persist(where[0], "z")
    assert {tuple(model.contents) for model in models} == {("x", "z")}
    assert await condition(testbed, "Ready") == ("True", "Ready")
    assert "Repaired" in await testbed.events("a")


async def test_double_entry_is_mended_at_once_where_that_is_wanted(testbed: KlightTestbed) -> None:
    testbed.options = Options(repair="auto")
    await testbed.start()
    where = await doubled(testbed)
    await testbed.cluster.advance(200)
    assert testbed.peers.persist(where[2], "z")
    assert await condition(testbed, "Ready") == ("True", "Ready")


async def test_double_entry_is_mended_before_anybody_wrote(testbed: KlightTestbed) -> None:
    await testbed.start()
    await originals(testbed, "p1", "p2")
    first, second = [await testbed.address(name) for name in ("p1", "p2")]
    await testbed.peers.join(second, first, 5)
    assert len(testbed.peers.models[first].view) == 3
    await ask_for_repair(testbed)
    await testbed.cluster.advance(10)
    assert all(len(model.view) == 2 for model in testbed.alive())


async def test_what_was_known_before_a_restart_holds_until_it_is_known_anew(
    testbed: KlightTestbed,
) -> None:
    await testbed.start()
    await doubled(testbed)
    await testbed.cluster.advance(150)
    await testbed.restart()
    for _ in range(20):
        assert await condition(testbed, WRITABLE) == ("False", "Forked")
        await testbed.cluster.advance(5)


async def test_originals_that_came_apart_are_brought_back_by_one_of_ours(
    testbed: KlightTestbed,
) -> None:
    await testbed.start()
    await testbed.add("ours")
    await originals(testbed, "p1", "p2")
    model: Any = testbed.peers.models[await testbed.address("p2")]
    model.contents.append("alone")
    await testbed.cluster.advance(150)
    assert await condition(testbed, WRITABLE) == ("False", "Forked")
    await ask_for_repair(testbed)
    await testbed.cluster.advance(10)
    assert {tuple(each.contents) for each in testbed.alive()} == {("alone",)}
    assert all(len(each.view) == 3 for each in testbed.alive())


async def fill_disks(testbed: KlightTestbed, *names: str) -> None:
    """A peer whose disk takes nothing answers that it does not serve."""
    for name in names:
        testbed.peers.models[await testbed.address(name)].mood = Mood.STOPPED


async def test_network_whose_disks_are_all_full_is_not_writable(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", "p3")
    assert await condition(testbed, WRITABLE) == ("True", "NoFailure")
    await fill_disks(testbed, "p1", "p2", "p3")
    await testbed.cluster.advance(30)
    for _ in range(10):  # While they are members, and after they were dropped.
        assert await condition(testbed, WRITABLE) == ("False", "NotServing")
        assert (await condition(testbed, "Ready"))[0] == "False"
        await testbed.cluster.advance(10)
    await testbed.restart()
    for _ in range(10):
        assert await condition(testbed, WRITABLE) == ("False", "NotServing")
        await testbed.cluster.advance(5)
    for name in ("p1", "p2", "p3"):
        testbed.peers.models[await testbed.address(name)].mood = Mood.SERVING
    await testbed.cluster.advance(60)
    assert await condition(testbed, WRITABLE) == ("True", "NoFailure")
    assert await condition(testbed, "Ready") == ("True", "Ready")


async def test_network_is_writable_while_one_disk_has_room(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", "p3")
    await fill_disks(testbed, "p1", "p2")
    for _ in range(10):
        await testbed.cluster.advance(10)
        assert await condition(testbed, WRITABLE) == ("True", "NoFailure")
