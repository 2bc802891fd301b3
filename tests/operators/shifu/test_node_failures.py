"""Nodes that die, flap, drain and come back (scenarios F)."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from quintant.api.apps import Deployment
from quintant.api.core import Pod
from quintant.api.events import Event
from quintant.core.object import Request
from quintant.operators.shifu.api.device import EdgeDevice
from quintant.operators.shifu.options import Options
from quintant.testing import kind, writes
from scenarios.soak_size import SHARE
from testbeds.shifu import (
    DEMO,
    SHIFUS,
    ShifuTestbed,
    condition_of,
    node_of,
    opened,
    reason_of,
)

MANY, MOVED, OTHERS = (1000, 600, 20) if SHARE == 1 else (20, 12, 2)
"""Devices of a node that dies, those that find room, and nodes beside it."""
GRACE = 55.0
"""Seconds after which a silent node is not ready, and is looked at."""


async def test_f1_soak_all_devices_of_a_dead_node_run_elsewhere_within_45_seconds() -> None:
    options = replace_options(write_qps=50, reschedule="evacuate-only")
    async with opened(options, agents=False) as testbed:
        names = await testbed.crowd(MANY, "home")
        others = [f"n{number:02}" for number in range(OTHERS)]
        most = MANY // OTHERS + 1
        await testbed.nodes(*others, memory="8Gi", pods=10 + most)

        testbed.cluster.faults.calls.clear()
        await testbed.fault("home", "dead")
        await testbed.cluster.advance(GRACE + 60)

        after = await testbed.where()
        assert sorted(after) == names
        on = Counter(after.values())
        assert on["home"] == 0
        assert max(on.values()) <= most
        patched = testbed.changes(Deployment)
        ended = testbed.changes(Pod)
        assert (len(patched), len(ended)) == (len(names), len(names))
        assert max(*patched, *ended) - min(patched) < 45
        await consistent(testbed)


async def test_f2_soak_who_finds_no_room_waits_for_the_node_and_resumes_there() -> None:
    options = replace_options(reschedule="evacuate-only")
    async with opened(options) as testbed:
        names = await testbed.crowd(MANY, "home", priorities=True)
        room = MOVED
        await testbed.nodes("n1", "n2", memory="64Gi", pods=10 + room // 2)

        await testbed.fault("home", "dead")
        await testbed.cluster.advance(GRACE + 60)

        where = await testbed.where()
        moved, left = names[-room:], names[:-room]
        assert sorted(where) == moved, "the more important are those with the higher numbers"
        for name in (left[0], left[-1]):
            found = await testbed.phase(name, "Unknown")
            assert node_of(found) == "home"
            assert reason_of(found, "Scheduled") == "NoFeasibleNode"
            said = condition_of(found, "Scheduled").message
            assert said == "0/3 edge nodes: 1 Lost, 2 MaxDeviceShifus"

        await testbed.fault("home", None)
        await testbed.cluster.advance(60)

        after = await testbed.where()
        assert {name: after.get(name) for name in left} == dict.fromkeys(left, "home")
        for name in (left[0], left[-1]):
            found = await testbed.phase(name, "Running")
            assert found.status is not None
            assert found.status.placement is not None
            assert not found.status.placement.moves
        assert {name: after.get(name) for name in moved} == {name: where[name] for name in moved}
        await consistent(testbed)


async def test_f3_a_node_that_is_ill_for_moments_moves_nobody(testbed: ShifuTestbed) -> None:
    await testbed.nodes("n1", "n2")
    await testbed.device("camera", hints={"edge-node": "n1", "pin-policy": "preferred"})
    await testbed.placed("camera", "n1")

    for _ in range(10):
        await testbed.fault("n1", "not-ready")
        await testbed.cluster.advance(2)
        await testbed.fault("n1", None)
        await testbed.cluster.advance(28)

    (pod,) = await testbed.pods()
    assert pod.spec.node_name == "n1"
    found = await testbed.get("camera")
    assert found.status is not None
    assert found.status.placement is not None
    assert not found.status.placement.moves


async def test_f4_a_pod_that_hangs_on_a_dead_node_is_deleted_by_force(
    testbed: ShifuTestbed,
) -> None:
    await testbed.nodes("n1", "n2")
    await testbed.device("camera", hints={"location": "0,0"})
    found = await testbed.placed("camera")
    other = {"n1": "n2", "n2": "n1"}[node_of(found)]
    (old,) = await testbed.pods()

    await testbed.fault(node_of(found), "dead")
    await testbed.placed("camera", other, within=GRACE + 15)

    assert await testbed.client.find(Pod, old.metadata.name, SHIFUS) is None
    assert await testbed.where() == {"camera": other}
    assert "Evacuated" in await testbed.reasons()


async def test_a_node_that_did_not_work_out_is_better_than_a_dead_one(
    testbed: ShifuTestbed,
) -> None:
    await testbed.node("n1")
    await testbed.device("camera")
    await testbed.placed("camera", "n1")
    await testbed.node("n2")
    assert testbed.topology is not None
    testbed.topology.avoid(Request("camera", "devices"), "n2", 1800.0)

    await testbed.fault("n1", "dead")

    await testbed.placed("camera", "n2", within=GRACE + 15)


async def test_f5_when_most_nodes_vanish_together_evacuation_waits_and_not_for_ever() -> None:
    options = replace_options(guard_expires=120.0)
    async with opened(options) as testbed:
        nodes = [f"n{number}" for number in range(5)]
        await testbed.nodes(*nodes, memory="8Gi")
        for number in range(10):
            await testbed.device(f"d{number}")
        for number in range(10):
            await testbed.placed(f"d{number}", within=60)
        before = await testbed.where()
        assert len(set(before.values())) == 5

        for node in nodes[:4]:
            await testbed.fault(node, "dead")
        await testbed.cluster.advance(GRACE + 30)

        held = await testbed.phase(first_on(before, nodes[0]), "Unknown")
        assert reason_of(held, "Scheduled") == "MassNodeLoss"
        assert "MassNodeLoss" in await testbed.reasons()
        stayed = {name: node for name, node in before.items() if node == nodes[4]}
        assert (await testbed.where()).items() >= stayed.items()
        assert len(await testbed.where()) == len(stayed)

        await testbed.cluster.advance(120)

        assert set((await testbed.where()).values()) == {nodes[4]}
        assert len(await testbed.where()) == 10
        await consistent(testbed)


async def test_evacuations_are_held_back_no_longer_once_all_nodes_are_well_again(
    testbed: ShifuTestbed,
) -> None:
    nodes = [f"n{number}" for number in range(5)]
    await testbed.nodes(*nodes, memory="8Gi")
    await testbed.cluster.advance(5)
    topology = testbed.topology
    assert topology is not None
    for node in nodes[:4]:
        await testbed.fault(node, "not-ready")
    await testbed.cluster.advance(5)
    assert (topology.held, len(topology.nodes.unwell)) == (True, 4)

    for node in nodes[:4]:
        await testbed.fault(node, None)
    await testbed.cluster.advance(5)
    assert (topology.held, len(topology.nodes.unwell)) == (False, 0)


async def test_three_nodes_of_which_two_die_for_good_leave_all_on_the_third(
    testbed: ShifuTestbed,
) -> None:
    await testbed.nodes("n1", "n2", "n3", memory="200Mi")
    for number in range(6):
        await testbed.device(f"d{number}")
    for number in range(6):
        await testbed.placed(f"d{number}", within=60)

    await testbed.fault("n1", "dead")
    await testbed.fault("n2", "dead")
    await testbed.cluster.advance(GRACE + 20)

    where = await testbed.where()
    assert set(where.values()) == {"n3"}
    assert len(where) == 5
    (left,) = {f"d{number}" for number in range(6)} - set(where)
    found = await testbed.phase(left, "Unknown")
    assert reason_of(found, "Scheduled") == "NoFeasibleNode"
    await consistent(testbed)


async def test_f6_a_cordon_moves_nobody_and_keeps_others_away(testbed: ShifuTestbed) -> None:
    await testbed.node("n1", memory="64Gi")
    await testbed.device("first")
    await testbed.placed("first", "n1")
    await testbed.node("n2")

    await testbed.merge("/api/v1/nodes/n1", {"spec": {"unschedulable": True}})
    await testbed.cluster.advance(20)
    await testbed.device("second")

    await testbed.placed("second", "n2")
    assert (await testbed.where())["first"] == "n1"


async def test_f7_a_drain_moves_devices_within_35_seconds(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    await testbed.device("camera")
    await testbed.placed("camera", "n1")
    await testbed.node("n2")

    await testbed.merge("/api/v1/nodes/n1", {"spec": {"unschedulable": True}})
    (pod,) = await testbed.pods()
    await testbed.client.delete(pod)

    await testbed.placed("camera", "n2", within=38)
    assert "NodeRejected" in await testbed.reasons()


async def test_f8_a_node_that_is_deleted_is_evacuated_at_once(testbed: ShifuTestbed) -> None:
    await testbed.nodes("n1")
    await testbed.device("camera")
    await testbed.placed("camera", "n1")
    await testbed.node("n2")

    await testbed.delete_node("n1")

    await testbed.placed("camera", "n2", within=8)
    await consistent(testbed)


async def test_a_node_out_of_service_is_evacuated_at_once(testbed: ShifuTestbed) -> None:
    await testbed.nodes("n1")
    await testbed.device("camera", hints={"autonomy": "1h"})
    await testbed.placed("camera", "n1")
    await testbed.node("n2")

    taint = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}
    await testbed.fault("n1", "dead")
    await testbed.merge("/api/v1/nodes/n1", {"spec": {"taints": [taint]}})

    await testbed.placed("camera", "n2", within=10)


@pytest.mark.parametrize("hints", [{"edge-node": "n1"}, {"reschedule": "never", "location": "0,0"}])
async def test_f9_a_device_that_belongs_to_a_node_stays_when_it_dies(
    testbed: ShifuTestbed, hints: dict[str, str]
) -> None:
    await testbed.node("n1", at="0,0")
    await testbed.node("n2", at="50,50")
    await testbed.device("camera", hints=hints)
    await testbed.placed("camera", "n1")
    await testbed.phase("camera", "Running")

    await testbed.fault("n1", "dead")
    found = await testbed.phase("camera", "Unknown", within=GRACE + 20)

    await testbed.cluster.advance(60)
    assert reason_of(found, "Scheduled") == "PinnedNodeLost"
    assert "PinnedNodeLost" in await testbed.reasons()
    assert [node_of(await testbed.get("camera"))] == ["n1"]

    await testbed.fault("n1", None)

    await testbed.phase("camera", "Running")
    assert await testbed.where() == {"camera": "n1"}


async def test_f10_when_the_last_node_dies_all_recovers_with_it(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    for number in range(5):
        await testbed.device(f"d{number}")
    for number in range(5):
        await testbed.placed(f"d{number}")

    await testbed.fault("n1", "dead")
    for number in range(5):
        await testbed.phase(f"d{number}", "Unknown", within=GRACE + 20)
    await testbed.fault("n1", None)
    await testbed.cluster.advance(30)

    for number in range(5):
        await testbed.phase(f"d{number}", "Running")
    assert len(await testbed.where()) == 5
    await consistent(testbed)


async def test_autonomy_keeps_a_device_on_a_lost_node_for_so_long(testbed: ShifuTestbed) -> None:
    await testbed.nodes("n1")
    await testbed.device("brief")
    await testbed.device("patient", hints={"autonomy": "5m"})
    for name in ("brief", "patient"):
        await testbed.placed(name, "n1")
    await testbed.node("n2")

    await testbed.fault("n1", "dead")
    await testbed.placed("brief", "n2", within=GRACE + 15)
    found = await testbed.phase("patient", "Unknown")
    assert reason_of(found, "Scheduled") == "NodeLost"
    await testbed.cluster.advance(200)
    assert node_of(await testbed.get("patient")) == "n1"

    await testbed.placed("patient", "n2", within=120)


async def test_without_rescheduling_nobody_leaves() -> None:
    async with opened(replace_options(reschedule="off")) as testbed:
        await testbed.nodes("n1")
        await testbed.device("camera")
        await testbed.placed("camera", "n1")
        await testbed.node("n2")

        await testbed.fault("n1", "dead")
        await testbed.phase("camera", "Unknown", within=GRACE + 20)
        await testbed.cluster.advance(120)

        assert node_of(await testbed.get("camera")) == "n1"


async def test_a_node_that_dies_while_devices_come_to_it_is_left_again() -> None:
    async with opened(replace_options(write_qps=4)) as testbed:
        names = await testbed.crowd(12, "n1")
        await testbed.node("n2", memory="64Gi")
        await testbed.fault("n1", "not-ready")
        await testbed.cluster.advance(5)
        await testbed.node("n3", memory="64Gi")
        await testbed.fault("n2", "not-ready")
        await testbed.cluster.advance(60)

        assert await testbed.where() == dict.fromkeys(names, "n3")
        await consistent(testbed)


async def consistent(testbed: ShifuTestbed) -> None:
    """edgeMap is where the pods are, and every device has one deviceShifu at most."""
    await testbed.cluster.advance(3)
    pods = await testbed.pods()
    count = Counter(pod.metadata.labels["app"] for pod in pods if pod.ready)
    assert all(number == 1 for number in count.values())
    assert testbed.topology is not None
    for name, node in (await testbed.where()).items():
        link = testbed.topology.edgemap.link(Request(name, "devices"))
        assert link is not None
        assert (link.node, link.running) == (node, True)


def first_on(where: dict[str, str], node: str) -> str:
    return next(name for name, place in where.items() if place == node)


def replace_options(**changes: Any) -> Options:
    return replace(DEMO, **changes)


LOCATED = "shifu.edgenesis.io/location"


async def test_an_evacuation_is_told_though_the_leader_dies_in_the_middle_of_it(
    testbed: ShifuTestbed,
) -> None:
    await testbed.node("n1")
    await testbed.device("x")
    await testbed.placed("x", "n1")
    await testbed.node("n2")
    await testbed.fault("n1", "dead")
    with testbed.cluster.faults.answer(503, when=writes & (kind(Event) | kind(EdgeDevice))):
        async with asyncio.timeout(300):
            while placed_node((await testbed.deployments())[0]) != "n2":
                await testbed.cluster.advance(0.01)
        await testbed.crash(testbed.engines[0])
    assert "Evacuated" not in await testbed.reasons()

    await testbed.start()
    await testbed.placed("x", "n2")
    await testbed.cluster.advance(30)
    assert (await testbed.reasons()).count("Evacuated") == 1


@pytest.mark.parametrize("code", [403, 500, 503])
@pytest.mark.parametrize("exclusive", [False, True])
async def test_an_evacuation_is_told_though_its_event_was_refused_and_the_leader_died(
    testbed: ShifuTestbed, code: int, exclusive: bool
) -> None:
    await testbed.node("n1")
    await testbed.device("x", hints={"exclusive": "true"} if exclusive else {})
    await testbed.placed("x", "n1")
    await testbed.node("n2")
    await testbed.fault("n1", "dead")
    with testbed.cluster.faults.answer(code, when=writes & kind(Event)):
        await testbed.placed("x", "n2", within=300)
        await testbed.cluster.advance(30)
        await testbed.crash(testbed.engines[0])
    assert "Evacuated" not in await testbed.reasons()

    await testbed.start()
    await testbed.cluster.advance(60)
    (event,) = await moves_told(testbed)
    assert (event.reason, event.type) == ("Evacuated", "Warning")
    assert event.note.startswith("from n1 to n2: ")
    await nothing_more(testbed)


async def test_an_evacuation_is_told_once_though_its_status_was_refused_and_the_leader_died(
    testbed: ShifuTestbed,
) -> None:
    await testbed.node("n1")
    await testbed.device("x")
    await testbed.placed("x", "n1")
    await testbed.node("n2")
    await testbed.fault("n1", "dead")
    with testbed.cluster.faults.answer(503, when=writes & kind(EdgeDevice)):
        async with asyncio.timeout(300):
            while "Evacuated" not in await testbed.reasons():
                await testbed.cluster.advance(1)
        await testbed.crash(testbed.engines[0])

    await testbed.start()
    await testbed.placed("x", "n2")
    (event,) = await moves_told(testbed)
    assert event.series is None
    await nothing_more(testbed)


async def test_every_move_is_told_when_the_server_takes_events_again(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    await testbed.device("x")
    await testbed.placed("x", "n1")
    await testbed.node("n2")
    with testbed.cluster.faults.answer(500, when=writes & kind(Event)):
        await testbed.fault("n1", "dead")
        await testbed.placed("x", "n2", within=300)
        await testbed.fault("n1", None)
        await testbed.cluster.advance(60)
        await testbed.fault("n2", "dead")
        await testbed.placed("x", "n1", within=300)
        await testbed.cluster.advance(30)
    await testbed.cluster.advance(600)
    told = [each.note.partition(":")[0] for each in await moves_told(testbed)]
    assert told == ["from n1 to n2", "from n2 to n1"]
    await nothing_more(testbed)


async def moves_told(testbed: ShifuTestbed) -> list[Event]:
    """The events of evacuations, in the order in which those were."""
    found = [each for each in await testbed.client.list(Event) if each.reason == "Evacuated"]
    return sorted(found, key=lambda each: each.event_time or "")


async def nothing_more(testbed: ShifuTestbed) -> None:
    """Nothing is left to tell, and nothing is written at rest."""
    await testbed.cluster.advance(30)
    found = await testbed.get("x")
    assert found.status is not None
    assert found.status.unreported_moves == ()
    seen = len(testbed.changes(EdgeDevice))
    await testbed.cluster.advance(600)
    assert len(testbed.changes(EdgeDevice)) == seen
    assert len(await moves_told(testbed)) <= 2


def placed_node(deployment: Deployment) -> str:
    return deployment.metadata.annotations["shifu.edgenesis.io/placed-node"]
