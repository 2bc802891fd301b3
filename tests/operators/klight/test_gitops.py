"""A tool that waits for a network sees it form, and grow."""

from __future__ import annotations

from quintant.operators.klight.api.lightnetwork import LightNetwork
from testbeds.klight import KlightTestbed
from testbeds.kstatus import verdicts
from testbeds.watched_history import watched_history


async def test_a_network_that_forms_and_grows_ends_current_and_never_fails(
    testbed: KlightTestbed,
) -> None:
    await testbed.start()
    client = testbed.cluster.client
    async with watched_history(client, LightNetwork, "default") as history:
        await testbed.add("p1", "p2", "p3")
        await testbed.cluster.advance(60)
    seen = verdicts(history)
    assert seen[-1] == "Current"
    assert set(seen) <= {"InProgress", "Current"}
