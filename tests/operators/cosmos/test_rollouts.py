"""Pods are replaced so that never too many nodes are away, whatever the operator lives through."""

from __future__ import annotations

import pytest

from quintant.api.service import Endpoints
from quintant.testing.faults.match import path, writes
from testbeds.cosmos import NAMESPACE, CosmosTestbed, full_node

NEW = {"podTemplate": {"image": "gaia:v2"}}


async def in_sync(testbed: CosmosTestbed) -> int:
    return sum(testbed.in_sync(pod) for pod in (await testbed.pods()).values())


async def watched(testbed: CosmosTestbed, seconds: float, step: float = 0.5) -> list[int]:
    """How many nodes were in sync at every moment."""
    seen = []
    for _ in range(int(seconds / step)):
        await testbed.cluster.advance(step)
        seen.append(await in_sync(testbed))
    return seen


async def images(testbed: CosmosTestbed) -> list[str]:
    return [pod.spec.containers[0].image for _, pod in sorted((await testbed.pods()).items())]


async def test_five_nodes_are_replaced_two_at_a_time_and_each_once(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=5, strategy={"maxUnavailable": 2})
    await testbed.change(NEW)
    seen = await watched(testbed, 120)
    await testbed.settled()
    assert min(seen) == 3
    assert sorted(name for _, name in testbed.deleted) == [f"hub-{at}" for at in range(5)]
    assert await images(testbed) == ["gaia:v2"] * 5


async def test_a_quarter_of_two_is_one_at_a_time(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2)
    await testbed.change(NEW)
    assert min(await watched(testbed, 60)) == 1
    assert len(testbed.deleted) == 2


async def test_all_at_once_if_the_user_says_so(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3, strategy={"maxUnavailable": "100%"})
    await testbed.change(NEW)
    await testbed.cluster.advance(2)
    assert len(testbed.deleted) == 3


async def test_a_node_that_catches_up_holds_the_others_back(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3, pod={"probes": {"strategy": "None"}})
    testbed.node("hub-0").catching_up = True
    await testbed.cluster.advance(10)
    testbed.node("hub-0").catching_up = False
    await testbed.settled()
    await testbed.change(NEW)
    await testbed.cluster.advance(1)
    testbed.node("hub-0").catching_up = True
    await testbed.cluster.advance(300)
    assert [name for _, name in testbed.deleted] == ["hub-0"]
    testbed.node("hub-0").catching_up = False
    await testbed.settled()
    assert len(testbed.deleted) == 3


async def test_a_node_that_errs_holds_the_others_back(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3, pod={"probes": {"strategy": "None"}})
    await testbed.change(NEW)
    await testbed.cluster.advance(1)
    testbed.node("hub-0").down = True
    await testbed.cluster.advance(300)
    assert [name for _, name in testbed.deleted] == ["hub-0"]


async def test_a_node_whose_rpc_is_gone_is_replaced_first(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3)
    testbed.node("hub-2").down = True
    await testbed.cluster.advance(30)
    await testbed.change(NEW)
    await testbed.cluster.advance(2)
    testbed.node("hub-2").down = False
    assert [name for _, name in testbed.deleted] == ["hub-2"]
    await testbed.settled()
    assert len(testbed.deleted) == 3


async def test_an_operator_that_was_restarted_deletes_nothing_before_it_asked(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=5, strategy={"maxUnavailable": 1})
    await testbed.crash()
    await testbed.change(NEW)
    for pod in await testbed.pods():
        testbed.node(pod).latency = 4.0
    await testbed.start()
    await testbed.cluster.advance(3.9)
    assert testbed.deleted == []
    seen = await watched(testbed, 300)
    assert min(seen) == 4
    assert len(testbed.deleted) == 5


@pytest.mark.parametrize("seed", range(3))
async def test_an_operator_that_dies_again_and_again_keeps_the_budget(
    testbed: CosmosTestbed, seed: int
) -> None:
    await testbed.run(replicas=5, strategy={"maxUnavailable": 2})
    await testbed.change(NEW)
    lowest = 5
    for turn in range(30):
        lowest = min([lowest, *await watched(testbed, 1 + (seed + turn) % 4, 0.5)])
        await testbed.crash()
        await testbed.start()
    await testbed.settled()
    assert lowest >= 3
    assert len(testbed.deleted) == 5


async def test_where_config_maps_cannot_be_written_no_pod_is_touched(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=3)
    with testbed.cluster.faults.answer(500, when=path("*/configmaps/*") & writes):
        await testbed.change({"chain": {"logLevel": "debug"}})
        await testbed.phase("TransientError")
        await testbed.cluster.advance(60)
        assert testbed.deleted == []
    await testbed.settled(within=2000)
    assert len(testbed.deleted) == 3
    assert "ErrorTransient" in await testbed.reasons()


async def test_scaling_restarts_nobody(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2)
    before = {name: pod.metadata.uid for name, pod in (await testbed.pods()).items()}
    await testbed.change({"replicas": 4})
    await testbed.settled()
    assert testbed.deleted == []
    await testbed.change({"replicas": 2})
    await testbed.cluster.advance(60)
    after = {name: pod.metadata.uid for name, pod in (await testbed.pods()).items()}
    assert after == before
    assert sorted(name for _, name in testbed.deleted) == ["hub-2", "hub-3"]
    owned = await testbed.owned()
    assert {"Service/hub-p2p-2", "Service/hub-p2p-3"} <= owned
    assert "PersistentVolumeClaim/pvc-hub-2" not in owned


async def test_services_of_removed_instances_go_if_the_user_says_so(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=3, service={"pruneOnScaleDown": True})
    await testbed.change({"replicas": 1})
    await testbed.cluster.advance(30)
    owned = await testbed.owned()
    assert {each for each in owned if each.startswith("Service/")} == {
        "Service/hub-p2p-0", "Service/hub-rpc",
    }  # fmt: skip


async def test_no_replicas_leave_a_service(testbed: CosmosTestbed) -> None:
    await testbed.apply(full_node(replicas=0))
    await testbed.phase("Complete")
    owned = await testbed.owned()
    assert {each for each in owned if each.split("/")[0] in ("Pod", "Service")} == {
        "Service/hub-rpc"
    }


async def test_a_pod_that_is_deleted_or_fails_is_made_again(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2)
    pods = await testbed.pods()
    await testbed.cluster.client.delete(pods["hub-1"], grace=0)
    await testbed.cluster.advance(1)
    again = (await testbed.pods())["hub-1"]
    assert again.metadata.uid != pods["hub-1"].metadata.uid
    await testbed.settled()
    where = f"/api/v1/namespaces/{NAMESPACE}/pods/hub-0/status"
    await testbed.merge(where, {"status": {"phase": "Failed", "reason": "Evicted"}})
    await testbed.cluster.advance(5)
    assert (await testbed.pods())["hub-0"].metadata.uid != pods["hub-0"].metadata.uid
    await testbed.settled()


async def test_instances_may_be_disabled(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3)
    await testbed.change(
        {"instanceOverrides": {"hub-1": {"disable": "Pod"}, "hub-2": {"disable": "All"}}}
    )
    await testbed.cluster.advance(30)
    assert set(await testbed.pods()) == {"hub-0"}
    claims = {each for each in await testbed.owned() if each.startswith("Persistent")}
    assert claims == {"PersistentVolumeClaim/pvc-hub-0", "PersistentVolumeClaim/pvc-hub-1"}


async def test_a_retained_volume_outlives_its_instance(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2, volumeRetentionPolicy="Retain")
    await testbed.change({"instanceOverrides": {"hub-1": {"disable": "All"}}})
    await testbed.cluster.advance(30)
    assert "PersistentVolumeClaim/pvc-hub-1" in await testbed.owned()


async def test_one_instance_may_have_another_image(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2)
    await testbed.change({"instanceOverrides": {"hub-1": {"image": "mine:1"}}})
    await testbed.settled()
    assert await images(testbed) == ["gaia:v1.2.3", "mine:1"]
    assert [name for _, name in testbed.deleted] == ["hub-1"]


async def test_a_bad_image_is_reverted_though_its_pod_never_started(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=3)
    testbed.images = lambda image: image != "gaia:bad"
    await testbed.change({"podTemplate": {"image": "gaia:bad"}})
    await testbed.cluster.advance(120)
    assert [name for _, name in testbed.deleted] == ["hub-0"]
    await testbed.change({"podTemplate": {"image": "gaia:v1.2.3"}})
    await testbed.settled()
    assert [name for _, name in testbed.deleted] == ["hub-0", "hub-0"]


async def test_a_bad_version_stops_at_its_first_pod(testbed: CosmosTestbed) -> None:
    strategy = {"maxUnavailable": 1, "progressDeadlineSeconds": 60}
    await testbed.run(replicas=3, strategy=strategy)
    await testbed.change(NEW)
    await testbed.cluster.advance(1)
    testbed.node("hub-0").catching_up = True
    await testbed.cluster.advance(300)
    assert [name for _, name in testbed.deleted] == ["hub-0"]
    assert (await testbed.reasons()).count("ProgressDeadlineExceeded") == 1
    await testbed.change({"podTemplate": {"image": "gaia:v1.2.3"}})
    await testbed.cluster.advance(2)
    testbed.node("hub-0").catching_up = False
    await testbed.settled()
    assert [name for _, name in testbed.deleted] == ["hub-0", "hub-0"]


async def test_a_partition_leaves_lower_ordinals(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=4, strategy={"partition": 2})
    await testbed.change(NEW)
    await testbed.cluster.advance(120)
    assert await images(testbed) == ["gaia:v1.2.3"] * 2 + ["gaia:v2"] * 2


async def test_the_rpc_service_never_has_fewer_endpoints_than_promised(
    testbed: CosmosTestbed,
) -> None:
    testbed.probe_seconds = 8.0
    await testbed.run(replicas=3)
    await testbed.change(NEW)
    least = 3
    for _ in range(300):
        await testbed.cluster.advance(0.5)
        found = await testbed.cluster.get(Endpoints, "hub-rpc", NAMESPACE)
        least = min(least, sum(len(subset.addresses) for subset in found.subsets))
    await testbed.settled()
    assert least == 2
    assert len(testbed.deleted) == 3
