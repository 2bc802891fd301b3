"""Better places (scenarios E)."""

from __future__ import annotations

import asyncio

import pytest

from quintant.api.events import Event
from quintant.operators.shifu.api.device import EdgeDevice
from quintant.operators.shifu.api.names import PLACED_NODE
from quintant.testing import kind, writes
from quintant.testing.faults.match import RequestMatch
from testbeds.shifu import DEVICES, GIB, ShifuTestbed, node_of

PARIS = "48.8566,2.3522"
NEARER, A_LITTLE_NEARER = "48.86,2.35", "48.8586,2.3522"


async def test_e3_a_much_nearer_node_takes_over_after_three_rounds(testbed: ShifuTestbed) -> None:
    await testbed.node("far", at="49.2,2.35")
    await testbed.device("camera", hints={"location": PARIS})
    await testbed.placed("camera", "far")
    await testbed.cluster.advance(8)

    await testbed.node("near", at=NEARER)
    await testbed.cluster.advance(1)
    assert node_of(await testbed.get("camera")) == "far"

    await testbed.placed("camera", "near", within=15)
    assert "Rescheduled" in await testbed.reasons()


async def test_e3_a_little_nearer_moves_nobody(testbed: ShifuTestbed) -> None:
    await testbed.node("far", at="48.8630,2.3522")
    await testbed.device("camera", hints={"location": PARIS})
    await testbed.placed("camera", "far")

    await testbed.node("near", at=A_LITTLE_NEARER)
    await testbed.cluster.advance(60)

    assert node_of(await testbed.get("camera")) == "far"


async def test_much_more_memory_takes_devices_over(testbed: ShifuTestbed) -> None:
    await testbed.node("small", memory="2Gi")
    testbed.used = {"small": GIB}
    await testbed.device("camera")
    await testbed.placed("camera", "small")

    await testbed.node("large", memory="32Gi")
    testbed.used = {"small": GIB, "large": GIB}

    await testbed.placed("camera", "large", within=40)
    found = await testbed.get("camera")
    assert found.status is not None
    assert found.status.placement is not None
    assert found.status.placement.previous_node == "small"
    assert found.status.placement.moves == 1


@pytest.mark.parametrize("hints", [{"reschedule": "never"}, {"reschedule": "on-node-loss"}])
async def test_e4_who_may_not_be_moved_stays(testbed: ShifuTestbed, hints: dict[str, str]) -> None:
    await testbed.node("small", memory="2Gi")
    await testbed.device("camera", hints=hints)
    await testbed.device("pinned", hints={"edge-node": "small"})
    await testbed.placed("camera", "small")
    await testbed.placed("pinned", "small")

    await testbed.node("large", memory="64Gi")
    testbed.used = {"small": GIB, "large": GIB}
    await testbed.cluster.advance(60)

    assert await testbed.where() == {"camera": "small", "pinned": "small"}


async def test_a_busy_device_is_not_moved(testbed: ShifuTestbed) -> None:
    await testbed.node("far", at="60,2.35")
    await testbed.device("robot", hints={"location": PARIS})
    await testbed.placed("robot", "far")
    await testbed.report("robot", edgedevicephase="Running", busy=True)
    await testbed.node("near", at=NEARER)
    await testbed.cluster.advance(30)
    assert node_of(await testbed.get("robot")) == "far"

    await testbed.report("robot", edgedevicephase="Running", busy=False)

    await testbed.placed("robot", "near", within=20)


async def test_e5_a_move_that_does_not_work_out_is_taken_back_once(
    testbed: ShifuTestbed,
) -> None:
    await testbed.node("far", at="60,2.35")
    await testbed.device("camera", hints={"location": PARIS})
    await testbed.placed("camera", "far")
    await testbed.cluster.advance(6)
    await testbed.node("near", at=NEARER, simulated=False)
    await testbed.cluster.eventually(
        EdgeDevice, "camera", DEVICES, until=lambda it: node_of(it) == "near", within=10
    )

    # Its pod there hangs until the node is known to be lost.
    found = await testbed.placed("camera", "far", within=60)

    assert found.status is not None
    assert found.status.placement is not None
    assert "not ready in time on near" in found.status.placement.reason
    assert "RolledBack" in await testbed.reasons()
    await testbed.cluster.advance(15)
    assert await testbed.where() == {"camera": "far"}


@pytest.mark.parametrize("refused", [kind(Event) | kind(EdgeDevice), kind(EdgeDevice)])
async def test_a_move_that_is_taken_back_is_reported_once_though_the_leader_dies_in_it(
    testbed: ShifuTestbed, refused: RequestMatch
) -> None:
    await testbed.node("far", at="60,2.35")
    await testbed.device("camera", hints={"location": PARIS})
    await testbed.placed("camera", "far")
    await testbed.cluster.advance(6)
    await testbed.node("near", at=NEARER, simulated=False)
    await testbed.cluster.eventually(
        EdgeDevice, "camera", DEVICES, until=lambda it: node_of(it) == "near", within=10
    )
    with testbed.cluster.faults.answer(503, when=writes & refused):
        async with asyncio.timeout(60):
            while (await testbed.deployments())[0].metadata.annotations[PLACED_NODE] != "far":
                await testbed.cluster.advance(0.01)
        await testbed.crash(testbed.engines[0])

    await testbed.start()
    await testbed.placed("camera", "far", within=60)
    await testbed.cluster.advance(30)
    events = [each for each in await testbed.client.list(Event) if each.reason == "RolledBack"]
    assert [each.note for each in events] == ["to far: it was not ready in time on near"]
    found = await testbed.get("camera")
    assert found.status is not None
    assert found.status.unreported_moves == ()


async def test_e6_another_location_moves_a_device_at_once(testbed: ShifuTestbed) -> None:
    await testbed.node("paris", at=PARIS)
    await testbed.node("singapore", at="1.3521,103.8198")
    await testbed.device("ship", hints={"location": PARIS})
    await testbed.placed("ship", "paris")

    await testbed.hint("ship", location="1.3,103.8")

    await testbed.placed("ship", "singapore", within=6)


async def test_another_pin_moves_a_device_at_once(testbed: ShifuTestbed) -> None:
    await testbed.nodes("n1", "n2")
    await testbed.device("camera", hints={"edge-node": "n1"})
    await testbed.placed("camera", "n1")

    await testbed.hint("camera", edge_node="n2")

    await testbed.placed("camera", "n2", within=6)
