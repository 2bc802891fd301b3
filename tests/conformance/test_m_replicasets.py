"""ReplicaSets on both servers: sizes, adoption, which pods go first, and what is counted."""

from __future__ import annotations

from typing import Any

from conformance.kubelet import LINGERING, READY, UNBOUND, UNREADY, WAITING, Fate
from conformance.workloads import APPS, replica_set, told
from conformance.workshop import Workshop
from unit.cluster.api import Plain, pod

COST = "controller.kubernetes.io/pod-deletion-cost"


async def made(workshop: Workshop, name: str = "a", **spec: Any) -> Plain:
    path = workshop.path("replicasets", api=APPS)
    return await workshop.create(path, replica_set(name, **spec))


async def scale(workshop: Workshop, size: int, name: str = "a") -> None:
    path = workshop.path("replicasets", name, APPS)
    await workshop.merge(path, {"spec": {"replicas": size}})


async def counted(workshop: Workshop, name: str = "a", **counts: int) -> Plain:
    """The set, once it has been looked at and its status counts so many."""

    def fits(it: Plain) -> bool:
        status = it["status"]
        seen = status.get("observedGeneration", 0) >= it["metadata"]["generation"]
        return seen and all(status.get(key, 0) == count for key, count in counts.items())

    return await workshop.until("replicasets", name, fits, api=APPS)


async def test_141_set_keeps_its_number_of_pods(workshop: Workshop) -> None:
    await made(workshop, replicas=3)
    found = await counted(workshop, availableReplicas=3)
    assert found["status"] == {
        "replicas": 3, "fullyLabeledReplicas": 3, "readyReplicas": 3, "availableReplicas": 3,
        "terminatingReplicas": 0, "observedGeneration": 1,
    }  # fmt: skip
    pods = await workshop.all("pods")
    for each in pods:
        assert each["metadata"]["generateName"] == "a-"
        (owner,) = each["metadata"]["ownerReferences"]
        assert owner == {
            "apiVersion": APPS, "kind": "ReplicaSet", "name": "a", "controller": True,
            "uid": found["metadata"]["uid"], "blockOwnerDeletion": True,
        }  # fmt: skip
    created = await told(workshop, "a", "SuccessfulCreate", 3)
    assert {text.removeprefix("Created pod: ") for text in created} == {
        each["metadata"]["name"] for each in pods
    }
    gone = pods[0]["metadata"]["name"]
    await workshop.delete(workshop.path("pods", gone))
    await workshop.until_gone("pods", gone)
    await counted(workshop, availableReplicas=3)


async def test_141_number_of_pods_can_change(workshop: Workshop) -> None:
    await made(workshop, replicas=2)
    await counted(workshop, readyReplicas=2)
    await scale(workshop, 4)
    await counted(workshop, readyReplicas=4)
    await scale(workshop, 1)
    await counted(workshop, replicas=1, readyReplicas=1)
    assert len(await workshop.quiet("pods")) == 1
    deleted = await told(workshop, "a", "SuccessfulDelete", 3)
    assert all(text.startswith("Deleted pod: a-") for text in deleted)


async def test_141_pod_with_the_labels_is_adopted(workshop: Workshop) -> None:
    await workshop.create(workshop.path("pods"), pod("mine", labels={"app": "a"}))
    found = await made(workshop, replicas=1)
    adopted = await workshop.until("pods", "mine", lambda it: it["metadata"].get("ownerReferences"))
    assert adopted["metadata"]["ownerReferences"][0]["uid"] == found["metadata"]["uid"]
    assert [it["metadata"]["name"] for it in await workshop.quiet("pods")] == ["mine"]


async def test_141_pod_without_the_labels_is_released_and_replaced(workshop: Workshop) -> None:
    await made(workshop, replicas=1)
    await counted(workshop, readyReplicas=1)
    (first,) = await workshop.all("pods")
    path = workshop.path("pods", first["metadata"]["name"])
    await workshop.merge(path, {"metadata": {"labels": {"app": "free"}}})
    await workshop.until_all("pods", lambda it: len(it) == 2)
    freed = await workshop.get(path)
    assert "ownerReferences" not in freed["metadata"]
    await workshop.merge(path, {"metadata": {"labels": {"app": "a"}}})
    await workshop.until_all("pods", lambda it: len(it) == 1)


async def test_141_pods_that_do_no_work_go_first(workshop: Workshop) -> None:
    await made(workshop, replicas=0)
    fates = {"ready": READY, "unready": UNREADY, "waiting": WAITING, "unbound": UNBOUND}
    for name, fate in fates.items():
        workshop.kubelet.let(fate, rank=name)
        labels = {"app": "b", "rank": name}
        await workshop.create(workshop.path("pods"), pod(name, labels=labels))
    await workshop.until("pods", "ready", running)
    await workshop.until("pods", "unready", running)
    await workshop.until("pods", "waiting", lambda it: it["spec"].get("nodeName"))
    await made(workshop, "b", replicas=4)
    for gone in ("unbound", "waiting", "unready"):
        size = len(await workshop.all("pods", labels="app=b"))
        await counted(workshop, "b", replicas=size)
        await scale(workshop, size - 1, "b")
        await workshop.until_gone("pods", gone)
    assert await workshop.names(workshop.path("pods"), labelSelector="app=b") == ["ready"]


def running(it: Plain) -> bool:
    phase: str = it["status"].get("phase", "")
    return phase == "Running"


async def test_141_cheap_pods_go_first(workshop: Workshop) -> None:
    await made(workshop, replicas=3)
    await counted(workshop, readyReplicas=3)
    cheap, dear, _ = [it["metadata"]["name"] for it in await workshop.all("pods")]
    for name, cost in ((cheap, "-10"), (dear, "10")):
        path = workshop.path("pods", name)
        await workshop.merge(path, {"metadata": {"annotations": {COST: cost}}})
    await scale(workshop, 2)
    await workshop.until_gone("pods", cheap)
    await counted(workshop, replicas=2)
    await scale(workshop, 1)
    await workshop.until_all("pods", lambda it: [p["metadata"]["name"] for p in it] == [dear])


async def test_141_pods_that_restarted_go_first(workshop: Workshop) -> None:
    for name, restarts in (("often", 3), ("never", 0)):
        workshop.kubelet.let(Fate(restarts=restarts), rank=name)
        labels = {"app": "a", "rank": name}
        await workshop.create(workshop.path("pods"), pod(name, labels=labels))
        await workshop.until("pods", name, running)
    times = [ready_since(it) for it in await workshop.all("pods")]
    await made(workshop, replicas=2)
    await counted(workshop, readyReplicas=2)
    await scale(workshop, 1)
    await counted(workshop, replicas=1)
    (left,) = await workshop.until_all("pods", lambda it: len(it) == 1)
    # Only of those that became ready at the same time the one with fewer restarts is kept.
    assert left["metadata"]["name"] == "never" or len(set(times)) == 2


def ready_since(it: Plain) -> str:
    conditions = {each["type"]: each for each in it["status"]["conditions"]}
    found: str = conditions["Ready"]["lastTransitionTime"]
    return found


async def test_141_pods_are_available_when_ready_for_long_enough(workshop: Workshop) -> None:
    await made(workshop, replicas=1, minReadySeconds=3)
    found = await counted(workshop, readyReplicas=1)
    assert "availableReplicas" not in found["status"]
    await counted(workshop, readyReplicas=1, availableReplicas=1)


async def test_141_pods_that_go_are_counted_apart(workshop: Workshop) -> None:
    workshop.kubelet.let(LINGERING)
    await made(workshop, replicas=2)
    await counted(workshop, readyReplicas=2)
    await scale(workshop, 1)
    await counted(workshop, replicas=1, readyReplicas=1, terminatingReplicas=1)
    workshop.kubelet.let(READY)
    await counted(workshop, replicas=1, readyReplicas=1, terminatingReplicas=0)


async def test_141_labels_beyond_the_selector_are_counted(workshop: Workshop) -> None:
    labels = {"app": "a", "more": "yes"}
    spec = {"containers": [{"name": "main", "image": "one"}]}
    await workshop.create(workshop.path("pods"), pod("mine", labels={"app": "a"}))
    await made(workshop, replicas=2, template={"metadata": {"labels": labels}, "spec": spec})
    found = await counted(workshop, replicas=2, readyReplicas=2)
    assert found["status"]["fullyLabeledReplicas"] == 1


async def test_141_pods_that_failed_are_replaced(workshop: Workshop) -> None:
    await made(workshop, replicas=1)
    await counted(workshop, readyReplicas=1)
    (first,) = await workshop.all("pods")
    failed = {"status": {"phase": "Failed"}}
    path = workshop.path("pods", first["metadata"]["name"], sub="status")
    await workshop.strategic(path, failed)
    await workshop.until_all("pods", lambda it: len(it) == 2)
    await counted(workshop, replicas=1, readyReplicas=1)


async def test_141_refused_pods_are_told(workshop: Workshop) -> None:
    spec = {"serviceAccountName": "nobody", "containers": [{"name": "main", "image": "one"}]}
    template = {"metadata": {"labels": {"app": "a"}}, "spec": spec}
    await made(workshop, replicas=2, template=template)
    found = await workshop.until(
        "replicasets", "a", lambda it: it["status"].get("conditions"), api=APPS
    )
    (condition,) = found["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == ("ReplicaFailure", "FailedCreate")
    refusal = f"error looking up service account {workshop.namespace}/nobody: "
    assert refusal in condition["message"]
    (text, *_) = await told(workshop, "a", "FailedCreate", 1)
    assert text.startswith('Error creating: pods "a-')
    assert refusal in text
    account = {"metadata": {"name": "nobody"}}
    await workshop.create(workshop.path("serviceaccounts"), account)
    healed = await counted(workshop, readyReplicas=2)
    assert "conditions" not in healed["status"]
