"""Where no agent runs, nothing says that it does; and a pod that works is not given up lightly."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from quintant.api.core import Pod
from quintant.operators.shifu.api.device import EdgeDevice
from testbeds.shifu import (
    ANSWERS,
    DEMO,
    DEVICES,
    SHIFUS,
    ShifuTestbed,
    condition_of,
    opened,
    reason_of,
)

STEADY = replace(DEMO, node_lost_after=60.0, move_timeout=300.0, reschedule="evacuate-only")


async def running(testbed: ShifuTestbed, name: str = "x") -> EdgeDevice:
    """A device whose agent says that it answers."""
    await testbed.device(name)
    await testbed.placed(name)
    await testbed.report(name, edgedevicephase="Running", conditions=[ANSWERS])
    return await testbed.phase(name, "Running")


def phase_of(device: EdgeDevice) -> str:
    assert device.status is not None
    return device.status.phase


async def uids(testbed: ShifuTestbed) -> list[str]:
    return [each.metadata.uid for each in await testbed.pods() if each.ready]


@pytest.mark.parametrize("spec", [{"protocol": "Nonsense"}, {"address": ""}, {"protocol": ""}])
async def test_a_device_that_is_no_longer_served_is_not_running(
    testbed: ShifuTestbed, spec: dict[str, Any]
) -> None:
    await testbed.node("n1")
    await running(testbed)
    await testbed.merge(testbed.path("x"), {"spec": spec})
    await testbed.cluster.advance(30)
    assert await testbed.pods() == []
    found = await testbed.get("x")
    assert phase_of(found) == "Pending"
    assert condition_of(found, "DeviceReachable").status == "Unknown"


async def test_a_device_without_a_ready_pod_is_not_running_for_long(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    await running(testbed)
    await testbed.merge("/api/v1/nodes/n1", {"spec": {"unschedulable": True}})
    (pod,) = await testbed.pods()
    await testbed.client.delete(pod)
    await testbed.cluster.advance(25)
    found = await testbed.get("x")
    assert phase_of(found) == "Pending"
    assert condition_of(found, "DeviceReachable").status == "Unknown"

    await testbed.merge("/api/v1/nodes/n1", {"spec": {"unschedulable": False}})
    await testbed.placed("x", within=120)
    await testbed.report("x", edgedevicephase="Running", conditions=[ANSWERS])
    await testbed.cluster.advance(60)
    found = await testbed.get("x")
    assert (phase_of(found), reason_of(found, "DeviceReachable")) == ("Running", "Answers")


async def test_a_pod_that_works_is_not_replaced_by_one_for_which_there_is_no_room(
    testbed: ShifuTestbed,
) -> None:
    await testbed.node("n1")
    await running(testbed)
    before = await uids(testbed)
    await testbed.hint("x", memory_request="100Gi")
    await testbed.said("x", "Scheduled", "NoFeasibleNode")
    await testbed.cluster.advance(120)
    assert await uids(testbed) == before
    assert phase_of(await testbed.get("x")) == "Running"

    await testbed.node("big", memory="200Gi")
    await testbed.placed("x", "big", within=60)
    await testbed.hint("x", memory_request="64Mi")
    await testbed.cluster.advance(60)
    found = await testbed.placed("x")
    assert condition_of(found, "Scheduled").status == "True"


async def test_a_pod_that_works_stays_where_what_is_asked_of_a_node_is_nowhere() -> None:
    async with opened() as testbed:
        await testbed.node("n1")
        await running(testbed)
        before = await uids(testbed)
        await testbed.hint("x", node_selector="site=moon")
        await testbed.cluster.advance(120)
        assert await uids(testbed) == before
        assert reason_of(await testbed.get("x"), "Scheduled") == "NoFeasibleNode"
        await testbed.node("moon", labels={"site": "moon"})
        await testbed.placed("x", "moon", within=60)


async def moved_to_n2(testbed: ShifuTestbed) -> None:
    """A device that left a lost node long ago, which is back."""
    await testbed.node("n1")
    await running(testbed)
    await testbed.node("n2")
    await testbed.fault("n1", "dead")
    await testbed.placed("x", "n2", within=300)
    await testbed.fault("n1", None)
    await testbed.cluster.advance(700)


async def test_a_node_that_is_away_for_a_moment_keeps_what_moved_to_it_long_ago() -> None:
    async with opened(STEADY) as testbed:
        await moved_to_n2(testbed)
        await testbed.fault("n2", "not-ready")
        await testbed.cluster.advance(40)
        await testbed.fault("n2", None)
        await testbed.cluster.advance(60)
        assert await testbed.where() == {"x": "n2"}
        assert "RolledBack" not in await testbed.reasons()


async def test_an_agent_that_is_killed_long_after_a_good_move_is_not_moved_back() -> None:
    async with opened(STEADY) as testbed:
        await moved_to_n2(testbed)
        for _ in range(3):
            for pod in await testbed.client.list(Pod, SHIFUS):
                await testbed.client.delete(pod)
            await testbed.cluster.advance(20)
        assert await testbed.where() == {"x": "n2"}
        assert "RolledBack" not in await testbed.reasons()
        assert len(await testbed.client.list(EdgeDevice, DEVICES)) == 1


async def test_an_agent_that_is_alive_on_a_lost_node_has_the_last_word() -> None:
    async with opened(STEADY, agents=False) as testbed:
        await testbed.node("n1")
        await testbed.device("x", hints={"edge-node": "n1"})
        await testbed.placed("x")
        await testbed.report("x", edgedevicephase="Running", conditions=[ANSWERS])
        await testbed.fault("n1", "dead")
        count = len(testbed.changes(EdgeDevice))
        for _ in range(300):
            await testbed.cluster.advance(1)
            if phase_of(await testbed.get("x")) != "Running":
                await testbed.report("x", edgedevicephase="Running", conditions=[ANSWERS])
        found = await testbed.get("x")
        assert (phase_of(found), reason_of(found, "DeviceReachable")) == ("Running", "Answers")
        assert len(testbed.changes(EdgeDevice)) - count <= 15
