"""A tool that waits for a Cluster sees it made and scaled, and the cloud that it is made in."""

from __future__ import annotations

from quintant.operators.infra.api import Cloud, Cluster, InfrastructureProvider
from testbeds.infra import InfraTestbed
from testbeds.kstatus import kstatus, verdicts, wire
from testbeds.watched_history import watched_history


async def test_a_cluster_is_in_progress_until_it_is_online_and_again_while_it_is_scaled(
    testbed: InfraTestbed,
) -> None:
    client = testbed.cluster.client
    async with watched_history(client, Cluster, "default") as history:
        await testbed.everything()
        await testbed.cluster.advance(60)
        assert verdicts(history) == ["InProgress", "Current"]
        await testbed.scale(2)
        await testbed.cluster.advance(300)
    assert verdicts(history) == ["InProgress", "Current", "InProgress", "Current"]
    for kind, name in ((Cloud, "here"), (InfrastructureProvider, "im")):
        assert kstatus(wire(await testbed.cluster.get(kind, name))) == "Current"
