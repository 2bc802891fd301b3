"""A tool that waits for a PortalExpose sees it come up, roll over and wait for its user."""

from __future__ import annotations

from quintant.operators.portal.api import PortalExpose, TunnelClass
from testbeds.kstatus import kstatus, verdicts, wire
from testbeds.portal import PortalTestbed
from testbeds.watched_history import watched_history


async def test_one_that_comes_up_is_in_progress_until_it_is_current(testbed: PortalTestbed) -> None:
    client = testbed.cluster.client
    async with watched_history(client, PortalExpose, "default") as history:
        await testbed.ready(replicas=2, relays=2)
        await testbed.cluster.advance(60)
    assert verdicts(history) == ["InProgress", "Current"]
    chosen = await testbed.cluster.get(TunnelClass, "small", "")
    assert kstatus(wire(chosen)) == "Current"


async def test_one_without_a_service_is_waited_for_and_not_given_up(testbed: PortalTestbed) -> None:
    client = testbed.cluster.client
    async with watched_history(client, PortalExpose, "default") as history:
        await testbed.classed()
        await testbed.expose()
        await testbed.cluster.advance(30)
        await testbed.serve()
        await testbed.cluster.advance(60)
    assert verdicts(history) == ["InProgress", "Current"]
