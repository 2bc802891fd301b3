"""ReplicaSets on both servers: sizes, adoption, which pods go first, and what is counted."""

from __future__ import annotations

from typing import Any

from conformance.controller_cluster import ControllerCluster
from conformance.kubelet import LINGERING, READY, UNBOUND, UNREADY, WAITING, Fate
from conformance.workloads import APPS, replica_set, told
from unit.cluster.api import JsonObject, pod

COST = "controller.kubernetes.io/pod-deletion-cost"


async def made(cluster: ControllerCluster, name: str = "a", **spec: Any) -> JsonObject:
    path = cluster.path("replicasets", api=APPS)
    return await cluster.create(path, replica_set(name, **spec))


async def scale(cluster: ControllerCluster, size: int, name: str = "a") -> None:
    path = cluster.path("replicasets", name, APPS)
    await cluster.merge(path, {"spec": {"replicas": size}})


async def counted(cluster: ControllerCluster, name: str = "a", **counts: int) -> JsonObject:
    """The set, once it has been looked at and its status counts so many."""

    def fits(it: JsonObject) -> bool:
        status = it["status"]
        seen = status.get("observedGeneration", 0) >= it["metadata"]["generation"]
        return seen and all(status.get(key, 0) == count for key, count in counts.items())

    return await cluster.until("replicasets", name, fits, api=APPS)


async def test_set_keeps_its_number_of_pods(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=3)
    found = await counted(cluster, availableReplicas=3)
    assert found["status"] == {
        "replicas": 3, "fullyLabeledReplicas": 3, "readyReplicas": 3, "availableReplicas": 3,
        "terminatingReplicas": 0, "observedGeneration": 1,
    }  # fmt: skip
    pods = await cluster.all("pods")
    for each in pods:
        assert each["metadata"]["generateName"] == "a-"
        (owner,) = each["metadata"]["ownerReferences"]
        assert owner == {
            "apiVersion": APPS, "kind": "ReplicaSet", "name": "a", "controller": True,
            "uid": found["metadata"]["uid"], "blockOwnerDeletion": True,
        }  # fmt: skip
    created = await told(cluster, "a", "SuccessfulCreate", 3)
    assert {text.removeprefix("Created pod: ") for text in created} == {
        each["metadata"]["name"] for each in pods
    }
    gone = pods[0]["metadata"]["name"]
    await cluster.delete(cluster.path("pods", gone))
    await cluster.until_gone("pods", gone)
    await counted(cluster, availableReplicas=3)


async def test_number_of_pods_can_change(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=2)
    await counted(cluster, readyReplicas=2)
    await scale(cluster, 4)
    await counted(cluster, readyReplicas=4)
    await scale(cluster, 1)
    await counted(cluster, replicas=1, readyReplicas=1)
    assert len(await cluster.quiet("pods")) == 1
    deleted = await told(cluster, "a", "SuccessfulDelete", 3)
    assert all(text.startswith("Deleted pod: a-") for text in deleted)


async def test_pod_with_the_labels_is_adopted(cluster: ControllerCluster) -> None:
    await cluster.create(cluster.path("pods"), pod("mine", labels={"app": "a"}))
    found = await made(cluster, replicas=1)
    adopted = await cluster.until("pods", "mine", lambda it: it["metadata"].get("ownerReferences"))
    assert adopted["metadata"]["ownerReferences"][0]["uid"] == found["metadata"]["uid"]
    assert [it["metadata"]["name"] for it in await cluster.quiet("pods")] == ["mine"]


async def test_pod_without_the_labels_is_released_and_replaced(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=1)
    await counted(cluster, readyReplicas=1)
    (first,) = await cluster.all("pods")
    path = cluster.path("pods", first["metadata"]["name"])
    await cluster.merge(path, {"metadata": {"labels": {"app": "free"}}})
    await cluster.until_all("pods", lambda it: len(it) == 2)
    freed = await cluster.get(path)
    assert "ownerReferences" not in freed["metadata"]
    await cluster.merge(path, {"metadata": {"labels": {"app": "a"}}})
    await cluster.until_all("pods", lambda it: len(it) == 1)


async def test_pods_that_do_no_work_go_first(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=0)
    fates = {"ready": READY, "unready": UNREADY, "waiting": WAITING, "unbound": UNBOUND}
    for name, fate in fates.items():
        cluster.kubelet.let(fate, rank=name)
        labels = {"app": "b", "rank": name}
        await cluster.create(cluster.path("pods"), pod(name, labels=labels))
    await cluster.until("pods", "ready", running)
    await cluster.until("pods", "unready", running)
    await cluster.until("pods", "waiting", lambda it: it["spec"].get("nodeName"))
    await made(cluster, "b", replicas=4)
    for gone in ("unbound", "waiting", "unready"):
        size = len(await cluster.all("pods", labels="app=b"))
        await counted(cluster, "b", replicas=size)
        await scale(cluster, size - 1, "b")
        await cluster.until_gone("pods", gone)
    assert await cluster.names(cluster.path("pods"), labelSelector="app=b") == ["ready"]


def running(it: JsonObject) -> bool:
    phase: str = it["status"].get("phase", "")
    return phase == "Running"


async def test_cheap_pods_go_first(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=3)
    await counted(cluster, readyReplicas=3)
    cheap, dear, _ = [it["metadata"]["name"] for it in await cluster.all("pods")]
    for name, cost in ((cheap, "-10"), (dear, "10")):
        path = cluster.path("pods", name)
        await cluster.merge(path, {"metadata": {"annotations": {COST: cost}}})
    await scale(cluster, 2)
    await cluster.until_gone("pods", cheap)
    await counted(cluster, replicas=2)
    await scale(cluster, 1)
    await cluster.until_all("pods", lambda it: [p["metadata"]["name"] for p in it] == [dear])


async def test_pods_that_restarted_go_first(cluster: ControllerCluster) -> None:
    for name, restarts in (("often", 3), ("never", 0)):
        cluster.kubelet.let(Fate(restarts=restarts), rank=name)
        labels = {"app": "a", "rank": name}
        await cluster.create(cluster.path("pods"), pod(name, labels=labels))
        await cluster.until("pods", name, running)
    times = [ready_since(it) for it in await cluster.all("pods")]
    await made(cluster, replicas=2)
    await counted(cluster, readyReplicas=2)
    await scale(cluster, 1)
    await counted(cluster, replicas=1)
    (left,) = await cluster.until_all("pods", lambda it: len(it) == 1)
    # Only of those that became ready at the same time the one with fewer restarts is kept.
    assert left["metadata"]["name"] == "never" or len(set(times)) == 2


def ready_since(it: JsonObject) -> str:
    conditions = {each["type"]: each for each in it["status"]["conditions"]}
    found: str = conditions["Ready"]["lastTransitionTime"]
    return found


async def test_pods_are_available_when_ready_for_long_enough(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=1, minReadySeconds=3)
    found = await counted(cluster, readyReplicas=1)
    assert "availableReplicas" not in found["status"]
    await counted(cluster, readyReplicas=1, availableReplicas=1)


async def test_pods_that_go_are_counted_apart(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(LINGERING)
    await made(cluster, replicas=2)
    await counted(cluster, readyReplicas=2)
    await scale(cluster, 1)
    await counted(cluster, replicas=1, readyReplicas=1, terminatingReplicas=1)
    cluster.kubelet.let(READY)
    await counted(cluster, replicas=1, readyReplicas=1, terminatingReplicas=0)


async def test_labels_beyond_the_selector_are_counted(cluster: ControllerCluster) -> None:
    labels = {"app": "a", "more": "yes"}
    spec = {"containers": [{"name": "main", "image": "one"}]}
    await cluster.create(cluster.path("pods"), pod("mine", labels={"app": "a"}))
    await made(cluster, replicas=2, template={"metadata": {"labels": labels}, "spec": spec})
    found = await counted(cluster, replicas=2, readyReplicas=2)
    assert found["status"]["fullyLabeledReplicas"] == 1


async def test_pods_that_failed_are_replaced(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=1)
    await counted(cluster, readyReplicas=1)
    (first,) = await cluster.all("pods")
    failed = {"status": {"phase": "Failed"}}
    path = cluster.path("pods", first["metadata"]["name"], sub="status")
    await cluster.strategic(path, failed)
    await cluster.until_all("pods", lambda it: len(it) == 2)
    await counted(cluster, replicas=1, readyReplicas=1)


async def test_refused_pods_are_told(cluster: ControllerCluster) -> None:
    spec = {"serviceAccountName": "nobody", "containers": [{"name": "main", "image": "one"}]}
    template = {"metadata": {"labels": {"app": "a"}}, "spec": spec}
    await made(cluster, replicas=2, template=template)
    found = await cluster.until(
        "replicasets", "a", lambda it: it["status"].get("conditions"), api=APPS
    )
    (condition,) = found["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == ("ReplicaFailure", "FailedCreate")
    refusal = f"error looking up service account {cluster.namespace}/nobody: "
    assert refusal in condition["message"]
    (text, *_) = await told(cluster, "a", "FailedCreate", 1)
    assert text.startswith('Error creating: pods "a-')
    assert refusal in text
    account = {"metadata": {"name": "nobody"}}
    await cluster.create(cluster.path("serviceaccounts"), account)
    healed = await counted(cluster, readyReplicas=2)
    assert "conditions" not in healed["status"]
