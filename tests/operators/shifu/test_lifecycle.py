"""Races, restarts, and two replicas (scenarios G)."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from quintant.api.apps import Deployment
from quintant.api.core import Pod
from quintant.core.clock import monotonic
from quintant.core.errors import LeadershipLost, leaf_errors
from quintant.testing import kind, verb, writes
from scenarios.soak_size import SHARE
from testbeds.shifu import DEMO, HOME, ShifuTestbed, opened

MANY = 1000 if SHARE == 1 else 20
NOTHING: dict[str, list[str]] = {"Deployment": [], "Service": [], "ConfigMap": []}


async def test_g1_a_device_deleted_while_it_is_evacuated_leaves_nothing(
    testbed: ShifuTestbed,
) -> None:
    await testbed.nodes("n1")
    await testbed.device("camera")
    await testbed.placed("camera", "n1")
    await testbed.node("n2")
    await testbed.fault("n1", "not-ready")
    await testbed.cluster.advance(2.9)

    await testbed.client.delete(await testbed.get("camera"))
    await testbed.cluster.advance(10)

    assert await testbed.children() == NOTHING


async def test_g2_a_device_deleted_while_it_is_composed_leaves_nothing(
    testbed: ShifuTestbed,
) -> None:
    await testbed.nodes("n1")
    stalled = testbed.cluster.faults.delay(1.0, verb("patch") & kind(Deployment))
    await testbed.device("camera")
    await testbed.cluster.advance(0.7)

    await testbed.client.delete(await testbed.get("camera"))
    await testbed.cluster.advance(3)

    assert stalled.hits
    assert await testbed.children() == NOTHING
    assert testbed.topology is not None
    assert testbed.topology.edgemap.text() == "[n1]\n"


async def test_g3_a_device_made_again_at_once_has_one_deployment_of_its_own(
    testbed: ShifuTestbed,
) -> None:
    await testbed.nodes("n1")
    await testbed.device("camera")
    await testbed.placed("camera")

    await testbed.client.delete(await testbed.get("camera"))
    await testbed.cluster.advance(0.1)
    new = await testbed.device("camera")
    await testbed.cluster.advance(10)

    (made,) = await testbed.deployments()
    assert made.metadata.labels["shifu.edgenesis.io/edgedevice-uid"] == new.metadata.uid
    await testbed.placed("camera")


async def test_g4_soak_a_leader_killed_in_an_evacuation_is_followed_by_the_other() -> None:
    """Killed as by SIGKILL: between two moments, with requests under way."""
    options = replace(DEMO, write_qps=50, reschedule="evacuate-only")
    async with opened(options, agents=False, started=False) as testbed:
        first = await testbed.start(elect=True)
        await testbed.start(elect=True)
        names = await testbed.crowd(MANY, "n1")
        await testbed.nodes("n2", "n3", memory="64Gi", pods=2000)
        testbed.cluster.faults.delay(0.5, verb("patch") & kind(Deployment))

        testbed.cluster.faults.calls.clear()
        await testbed.fault("n1", "not-ready")
        async with asyncio.timeout(60):
            while len(testbed.changes(Deployment)) < len(names) // 3:
                await testbed.cluster.advance(0.1)
        await testbed.crash(first)
        began = monotonic()
        await testbed.cluster.advance(17 + 45)

        where = await testbed.where()
        assert sorted(where) == names
        assert "n1" not in where.values()
        assert max(testbed.changes(Pod)) - began < 17 + 45
        for made in await testbed.deployments():
            assert made.metadata.annotations["shifu.edgenesis.io/moves"] == "1"
        assert len(await testbed.pods()) == len(names)


async def test_g5_a_restart_with_nothing_changed_writes_nothing(testbed: ShifuTestbed) -> None:
    await testbed.node("n1", at="48.8,2.3")
    await testbed.node("n2")
    await testbed.device("pinned", hints={"edge-node": "n2"})
    await testbed.device("near", hints={"location": "48.8,2.35"})
    await testbed.device("free")
    await testbed.device("bad", hints={"priority": "many"})
    await testbed.device("none", protocol="")
    for name in ("pinned", "near", "free", "bad"):
        await testbed.placed(name)
    await testbed.cluster.advance(15)

    await testbed.stop()
    testbed.cluster.faults.calls.clear()
    await testbed.start()
    await testbed.cluster.advance(30)

    assert testbed.cluster.faults.seen(writes) == []


async def test_g6_what_was_deleted_while_nobody_looked_is_swept(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    await testbed.device("camera")
    await testbed.placed("camera")
    await testbed.stop()

    await testbed.client.delete(await testbed.get("camera"))
    await testbed.cluster.advance(5)
    assert await testbed.children() != NOTHING
    await testbed.start()
    await testbed.cluster.advance(3)

    assert await testbed.children() == NOTHING


async def test_g7_a_leader_whose_lease_was_taken_writes_nothing_more() -> None:
    async with opened(started=False) as testbed:
        leader = await testbed.start(elect=True)
        await testbed.nodes("n1")
        await testbed.device("first")
        await testbed.placed("first")

        path = f"/apis/coordination.k8s.io/v1/namespaces/{HOME}/leases/shifu"
        await testbed.merge(path, {"spec": {"holderIdentity": "thief"}})
        with pytest.raises(ExceptionGroup) as ended:
            await testbed.cluster.advance(2.5)

        assert isinstance(leaf_errors(ended.value)[0], LeadershipLost)
        testbed.cluster.faults.calls.clear()
        testbed.engines.remove(leader)
        await testbed.device("second")
        await testbed.cluster.advance(30)
        assert testbed.cluster.faults.seen(writes) == []


async def test_g8_a_server_that_is_away_for_a_minute_loses_and_moves_nobody(
    testbed: ShifuTestbed,
) -> None:
    await testbed.nodes("n1", "n2")
    for number in range(4):
        await testbed.device(f"d{number}")
        await testbed.placed(f"d{number}")
    before = await testbed.where()

    with testbed.cluster.faults.refuse():
        testbed.cluster.faults.cut()
        await testbed.device("meanwhile")
        await testbed.cluster.advance(60)

    await testbed.placed("meanwhile", within=120)
    assert (await testbed.where()).items() >= before.items()
    assert len(await testbed.pods()) == 5


async def test_g8_errors_of_the_server_lose_no_device(testbed: ShifuTestbed) -> None:
    await testbed.nodes("n1", "n2")
    for number, code in enumerate((409, 429, 500)):
        with testbed.cluster.faults.answer(code, when=writes):
            await testbed.device(f"d{number}")
            await testbed.cluster.advance(20)

    for number in range(3):
        await testbed.placed(f"d{number}", within=120)
    assert len(await testbed.pods()) == 3


@pytest.mark.parametrize("code", [0, 410])
async def test_g9_watches_that_break_move_nobody(testbed: ShifuTestbed, code: int) -> None:
    await testbed.nodes("n1", "n2")
    for number in range(6):
        await testbed.device(f"d{number}")
    for number in range(6):
        await testbed.placed(f"d{number}")
    before = await testbed.where()

    if code:
        testbed.cluster.faults.fail(code)
    else:
        testbed.cluster.faults.cut()
    await testbed.cluster.advance(30)

    assert await testbed.where() == before
    for number in range(6):
        found = await testbed.get(f"d{number}")
        assert found.status is not None
        assert found.status.placement is not None
        assert not found.status.placement.moves
