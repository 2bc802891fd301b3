"""A tool that waits for a CosmosFullNode sees it come up, and a rollout to its end."""

from __future__ import annotations

from quintant.operators.cosmos.api.full_node import CosmosFullNode
from testbeds.cosmos import NAMESPACE, CosmosTestbed
from testbeds.kstatus import verdicts
from testbeds.watched_history import watched_history


async def test_start_and_rollout_are_in_progress_until_every_node_is_in_sync(
    testbed: CosmosTestbed,
) -> None:
    client = testbed.cluster.client
    async with watched_history(client, CosmosFullNode, NAMESPACE) as history:
        await testbed.run(replicas=3)
        await testbed.cluster.advance(120)
        assert verdicts(history) == ["InProgress", "Current"]
        await testbed.change({"podTemplate": {"image": "gaia:v2"}})
        await testbed.settled()
        await testbed.cluster.advance(120)
    assert verdicts(history) == ["InProgress", "Current", "InProgress", "Current"]
