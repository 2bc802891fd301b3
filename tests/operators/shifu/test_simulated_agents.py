"""A device answers by an agent's word alone: a pod that is ready says nothing of it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from quintant.operators.shifu.api.device import EdgeDevice
from testbeds.shifu import (
    ANSWERS,
    DEMO,
    ShifuTestbed,
    condition_of,
    opened,
    reason_of,
)
from testbeds.shifu_manifests import users_deployment

STRANGE = {"deviceShifu": {"image": "example.dev/strange:1"}}
UPSTREAM = replace(DEMO, crd_flavor="upstream")
NAME = "edgedevice-agv"


async def report(testbed: ShifuTestbed, **status: Any) -> None:
    """Say something of the device, as an agent does in either flavour."""
    if testbed.options.crd_flavor == "ours":
        await testbed.report(NAME, **status)
    else:
        await testbed.merge(testbed.path(NAME), {"status": status})


def phase_of(device: EdgeDevice) -> str:
    assert device.status is not None
    return device.status.phase


async def simulated_pod(testbed: ShifuTestbed) -> EdgeDevice:
    """Wait until the pod is ready behind which nothing runs, and for long after."""
    await testbed.said(NAME, "DeviceShifuReady", "Simulated", within=60)
    await testbed.cluster.advance(300)
    return await testbed.get(NAME)


def assert_unanswered(found: EdgeDevice) -> None:
    said = condition_of(found, "DeviceReachable")
    assert (said.status, said.reason) == ("Unknown", "Simulated")
    assert "nothing runs" in said.message
    assert phase_of(found) == "Pending"


@pytest.mark.parametrize("options", [DEMO, UPSTREAM], ids=["ours", "upstream"])
async def test_a_device_whose_agent_is_an_unknown_image_never_answers(options: Any) -> None:
    async with opened(options, agents=False) as testbed:
        await testbed.node("n1")
        await testbed.device(NAME, device_shifu={"image": "example.dev/strange:1"})
        assert_unanswered(await simulated_pod(testbed))


@pytest.mark.parametrize("options", [DEMO, UPSTREAM], ids=["ours", "upstream"])
async def test_what_an_agent_said_is_taken_back_when_an_unknown_image_takes_its_place(
    options: Any,
) -> None:
    async with opened(options, agents=False) as testbed:
        await testbed.node("n1", simulated=False)
        await running(testbed)
        await testbed.node("sim")
        await testbed.merge(testbed.path(NAME), {"spec": STRANGE})
        await testbed.hint(NAME, edge_node="sim")
        assert_unanswered(await simulated_pod(testbed))

        await report(testbed, edgedevicephase="Running", conditions=[ANSWERS])
        await testbed.cluster.advance(60)
        found = await testbed.get(NAME)
        assert (phase_of(found), reason_of(found, "DeviceReachable")) == ("Running", "Answers")


@pytest.mark.parametrize("options", [DEMO, UPSTREAM], ids=["ours", "upstream"])
async def test_what_our_agent_said_is_taken_back_when_the_users_own_takes_its_place(
    options: Any,
) -> None:
    async with opened(options, agents=False) as testbed:
        await testbed.node("n1", simulated=False)
        await running(testbed)
        await testbed.node("sim")
        await testbed.merge("/api/v1/nodes/n1", {"spec": {"unschedulable": True}})
        await testbed.apply(users_deployment("agv"))
        assert_unanswered(await simulated_pod(testbed))


@pytest.mark.parametrize("options", [DEMO, UPSTREAM], ids=["ours", "upstream"])
async def test_a_program_of_the_users_own_that_reports_nothing_does_not_answer(
    options: Any,
) -> None:
    async with opened(options, agents=False) as testbed:
        await testbed.node("n1", simulated=False)
        await running(testbed)
        await testbed.merge(testbed.path(NAME), {"spec": STRANGE})
        await testbed.said(NAME, "DeviceShifuReady", "Unavailable")
        await testbed.run_pods("n1", 60)
        found = await testbed.get(NAME)
        said = condition_of(found, "DeviceReachable")
        assert (phase_of(found), said.status, said.reason) == ("Pending", "Unknown", "ForeignAgent")


async def running(testbed: ShifuTestbed) -> None:
    """A device whose agent, a process, says that it answers."""
    await testbed.device(NAME)
    await testbed.run_pods("n1")
    await testbed.said(NAME, "DeviceShifuReady", "Available")
    await report(testbed, edgedevicephase="Running", conditions=[ANSWERS])
    await testbed.phase(NAME, "Running")
