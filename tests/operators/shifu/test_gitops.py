"""A tool that waits for a device sees its deviceShifu come up, and the device answer."""

from __future__ import annotations

from quintant.operators.shifu.api.device import EdgeDevice
from quintant.operators.shifu.api.node import EdgeNode
from testbeds.kstatus import kstatus, verdicts, wire
from testbeds.shifu import DEVICES, ShifuTestbed
from testbeds.watched_history import watched_history


async def test_a_device_is_in_progress_until_its_agent_reaches_it_and_when_it_does_not(
    testbed: ShifuTestbed,
) -> None:
    await testbed.nodes("n1")
    async with watched_history(testbed.client, EdgeDevice, DEVICES) as history:
        await testbed.device("one")
        await testbed.phase("one", "Running")
        await testbed.cluster.advance(60)
        assert verdicts(history) == ["InProgress", "Current"]
        await testbed.report("one", edgedevicephase="Failed")
        await testbed.cluster.advance(60)
    assert verdicts(history) == ["InProgress", "Current", "InProgress"]
    assert kstatus(wire(await testbed.cluster.get(EdgeNode, "n1", ""))) == "Current"


async def test_a_device_that_is_current_is_not_written_again(testbed: ShifuTestbed) -> None:
    await testbed.nodes("n1")
    await testbed.device("one")
    await testbed.phase("one", "Running")
    await testbed.cluster.advance(60)
    before = len(testbed.changes(EdgeDevice))
    await testbed.cluster.advance(1800)
    assert len(testbed.changes(EdgeDevice)) == before
