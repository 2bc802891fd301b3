"""The life of a Cluster: created, online, scaled, at rest, gone."""

from __future__ import annotations

from quintant.api.core import Secret
from testbeds.infra import InfraTestbed


async def test_cluster_goes_from_pending_to_online(testbed: InfraTestbed) -> None:
    await testbed.provider()
    await testbed.cloud()
    await testbed.make()
    seen = await testbed.states_of(seconds=40)
    assert seen == ["PENDING", "CREATING", "CONNECTING", "ONLINE"]
    assert testbed.model.creations() == 1
    assert testbed.model.running == ["front", "wn"]
    secret = await testbed.cluster.get(Secret, "one-kubeconfig")
    assert b"made.example.com" in secret.reveal("value")
