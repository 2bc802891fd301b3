"""ReplicationControllers on both servers: sizes, scale, adoption, release, deletion, quota."""

from __future__ import annotations

from typing import Any

from conformance.controller_cluster import ControllerCluster
from conformance.kinds import LABELS, TEMPLATE
from unit.cluster.api import JsonObject, pod

PLURAL = "replicationcontrollers"


async def made(cluster: ControllerCluster, name: str = "a", **spec: Any) -> JsonObject:
    content = {"selector": LABELS, "template": TEMPLATE, **spec}
    return await cluster.create(cluster.path(PLURAL), {"metadata": {"name": name}, "spec": content})


async def counted(cluster: ControllerCluster, name: str = "a", **counts: int) -> JsonObject:
    """The controller, once it has been looked at and its status counts so many."""

    def fits(it: JsonObject) -> bool:
        status = it["status"]
        seen = status.get("observedGeneration", 0) >= it["metadata"]["generation"]
        return seen and all(status.get(key, 0) == count for key, count in counts.items())

    return await cluster.until(PLURAL, name, fits)


async def test_a_controller_keeps_its_number_of_pods(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=2)
    found = await counted(cluster, availableReplicas=2)
    assert found["status"] == {
        "replicas": 2, "fullyLabeledReplicas": 2, "readyReplicas": 2, "availableReplicas": 2,
        "observedGeneration": 1,
    }  # fmt: skip
    pods = await cluster.all("pods")
    for each in pods:
        (owner,) = each["metadata"]["ownerReferences"]
        assert owner == {
            "apiVersion": "v1", "kind": "ReplicationController", "name": "a", "controller": True,
            "uid": found["metadata"]["uid"], "blockOwnerDeletion": True,
        }  # fmt: skip
    gone = pods[0]["metadata"]["name"]
    await cluster.delete(cluster.path("pods", gone))
    await cluster.until_gone("pods", gone)
    await counted(cluster, availableReplicas=2)


async def test_a_scale_is_followed(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=1)
    await counted(cluster, availableReplicas=1)
    path = cluster.path(PLURAL, "a", sub="scale")
    await cluster.merge(path, {"spec": {"replicas": 3}})
    await counted(cluster, availableReplicas=3)
    await cluster.merge(path, {"spec": {"replicas": 0}})
    await counted(cluster, replicas=0)
    assert (await cluster.get(path))["status"] == {"replicas": 0, "selector": "app=check"}


async def test_pods_are_adopted_and_released_by_their_labels(cluster: ControllerCluster) -> None:
    await cluster.create(cluster.path("pods"), pod("lost", labels=LABELS))
    owner = await made(cluster, replicas=1)

    def adopted(it: JsonObject) -> bool:
        return bool(it["metadata"].get("ownerReferences"))

    found = await cluster.until("pods", "lost", adopted)
    assert found["metadata"]["ownerReferences"][0]["uid"] == owner["metadata"]["uid"]
    assert len(await cluster.all("pods")) == 1
    await cluster.merge(cluster.path("pods", "lost"), {"metadata": {"labels": {"app": "other"}}})
    await cluster.until("pods", "lost", lambda it: not adopted(it))
    await counted(cluster, replicas=1)


async def test_a_quota_is_told_of_and_holds(cluster: ControllerCluster) -> None:
    spec = {"hard": {"pods": "1"}}
    body = {"metadata": {"name": "quota"}, "spec": spec}
    await cluster.create(cluster.path("resourcequotas"), body)
    await cluster.until("resourcequotas", "quota", lambda it: "hard" in it.get("status", {}))
    await made(cluster, replicas=2)

    def failed(it: JsonObject) -> bool:
        return bool(it["status"].get("conditions"))

    found = await cluster.until(PLURAL, "a", failed)
    (condition,) = found["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == ("ReplicaFailure", "FailedCreate")
    await cluster.delete(cluster.path("resourcequotas", "quota"))
    await cluster.merge(cluster.path(PLURAL, "a"), {"metadata": {"labels": {"look": "again"}}})
    found = await counted(cluster, replicas=2)
    assert not found["status"].get("conditions")


async def test_pods_go_with_their_controller_unless_they_are_orphaned(
    cluster: ControllerCluster,
) -> None:
    await made(cluster, replicas=1)
    await counted(cluster, availableReplicas=1)
    (kept,) = await cluster.all("pods")
    name = kept["metadata"]["name"]
    await cluster.delete(cluster.path(PLURAL, "a"), {"propagationPolicy": "Orphan"})
    await cluster.until_gone(PLURAL, "a")
    found = await cluster.until("pods", name, lambda it: not it["metadata"].get("ownerReferences"))
    assert found["metadata"]["uid"] == kept["metadata"]["uid"]
    await made(cluster, replicas=1)
    await cluster.until("pods", name, lambda it: bool(it["metadata"].get("ownerReferences")))
    await cluster.delete(cluster.path(PLURAL, "a"), {"propagationPolicy": "Background"})
    await cluster.until_gone("pods", name)
