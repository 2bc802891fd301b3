"""The observer: what a made cluster says of itself becomes its Cluster's state."""

from __future__ import annotations

from quintant.operators.infra.observed.answers import NodeLook
from testbeds.infra import KUBECONFIG, InfraTestbed, condition, template

HOST = "made.example.com"


async def test_cluster_out_of_reach_is_degraded_then_offline_then_connecting(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything(observer={"interval": "5s"})
    testbed.targets.down.add(HOST)
    seen = await testbed.states_of(seconds=40)
    assert seen == ["ONLINE", "DEGRADED", "OFFLINE"]
    testbed.targets.down.clear()
    assert await testbed.states_of(seconds=20) == ["OFFLINE", "CONNECTING", "ONLINE"]


async def test_node_that_is_not_ready_and_pressure_are_told(testbed: InfraTestbed) -> None:
    await testbed.everything(observer={"interval": "5s"})
    testbed.targets.nodes[HOST] = (NodeLook("a", True), NodeLook("b", True, ("MemoryPressure",)))
    found = await testbed.state("UNHEALTHY")
    assert found.status is not None
    assert found.status.nodes is not None
    assert (found.status.nodes.total, found.status.nodes.memory_pressure) == (2, 1)
    testbed.targets.nodes[HOST] = (NodeLook("b", True, ("DiskPressure",)), NodeLook("a", False))
    found = await testbed.state("NOTREADY")
    assert condition(found, "NodesHealthy") == ("False", "NodesNotReady")
    testbed.targets.nodes[HOST] = ()
    await testbed.state("ONLINE")


async def test_cluster_without_nodes_is_not_ready_if_nodes_are_required(
    testbed: InfraTestbed,
) -> None:
    testbed.targets.nodes[HOST] = ()
    await testbed.provider()
    await testbed.cloud()
    await testbed.make(observer={"requireNodes": True})
    await testbed.state("NOTREADY")


async def test_failing_infrastructure_is_not_hidden_by_a_cluster_that_answers(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything(observer={"interval": "5s"}, reconfigure={"backoff": "10m"})
    testbed.model.only().machines["1"].state = "failed"
    await testbed.state("FAILING_RECONCILIATION", within=100)
    await testbed.cluster.advance(60)
    assert (await testbed.get()).status.state == "FAILING_RECONCILIATION"  # type: ignore[union-attr]


async def test_address_that_moved_is_read_again_without_any_change_at_the_provider(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything(observer={"interval": "5s"})
    moved = KUBECONFIG.replace("SERVER", "moved.example.com")
    sent = testbed.model.only().template
    sent["topology_template"] = template(kubeconfig=moved)["topology_template"]
    testbed.targets.down.add(HOST)
    calls = testbed.model.count("create", "update", "reconfigure")
    await testbed.state("OFFLINE", within=100)
    await testbed.state("CONNECTING", within=30)
    found = await testbed.state("ONLINE", within=30)
    assert found.status is not None
    assert found.status.api_server_endpoint == "https://moved.example.com:6443"
    assert testbed.model.count("create", "update", "reconfigure") == calls


async def test_credentials_that_the_cluster_refuses_are_fetched_again(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything(observer={"interval": "5s"})
    outputs = testbed.model.count("outputs")
    testbed.targets.refusing.add(HOST)
    found = await testbed.state("OFFLINE", within=100)
    assert condition(found, "APIServerReachable") == ("False", "Unauthorized")
    await testbed.cluster.advance(600)
    assert testbed.model.count("outputs") == outputs + 1


async def test_hundreds_of_clusters_out_of_reach_keep_no_worker(testbed: InfraTestbed) -> None:
    await testbed.everything()
    testbed.targets.delay = 10_000
    for number in range(30):
        await testbed.make(f"n{number}")
    await testbed.cluster.advance(120)
    testbed.targets.delay = 0.1
    await testbed.make("last")
    await testbed.state("ONLINE", "last", within=60)
