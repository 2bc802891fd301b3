"""StatefulSets on both servers: order, identity, rollouts, claims and history."""

from __future__ import annotations

import re
from typing import Any

from conformance.controller_cluster import ControllerCluster
from conformance.kubelet import FAILED, READY, UNREADY
from conformance.workloads import APPS, stateful_set, template, told
from unit.cluster.api import JsonObject

HASH = "controller-revision-hash"
CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


async def made(cluster: ControllerCluster, name: str = "a", **spec: Any) -> JsonObject:
    path = cluster.path("statefulsets", api=APPS)
    return await cluster.create(path, stateful_set(name, **spec))


async def change(cluster: ControllerCluster, name: str = "a", **spec: Any) -> JsonObject:
    return await cluster.merge(cluster.path("statefulsets", name, APPS), {"spec": spec})


async def rolled(cluster: ControllerCluster, name: str = "a") -> JsonObject:
    """The set, once all its pods are there, of one revision, and ready."""
    return await cluster.until("statefulsets", name, over, api=APPS)


def over(it: JsonObject) -> bool:
    status, size = it["status"], it["spec"]["replicas"]
    counts = ("replicas", "readyReplicas", "updatedReplicas", "currentReplicas")
    return (
        status.get("observedGeneration", 0) >= it["metadata"]["generation"]
        and all(status.get(count, 0) == size for count in counts)
        and status["currentRevision"] == status["updateRevision"]
    )


def names(pods: list[JsonObject]) -> list[str]:
    return [pod["metadata"]["name"] for pod in pods]


def ready(pods: list[JsonObject], *wanted: str) -> bool:
    """Whether there are just these pods, all of them running."""
    there = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
    return (
        names(pods) == list(wanted)
        and len(there) == len(pods)
        and all(pod["status"]["phase"] == "Running" for pod in pods)
    )


async def test_pods_are_numbered_and_know_who_they_are(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=2)
    found = await rolled(cluster)
    revision = found["status"]["currentRevision"]
    assert re.fullmatch("a-[bcdf456789]{6,10}", revision)
    pods = await cluster.all("pods")
    assert names(pods) == ["a-0", "a-1"]
    for at, pod in enumerate(pods):
        assert pod["metadata"]["generateName"] == "a-"
        assert pod["metadata"]["labels"] == {
            "app": "a", "apps.kubernetes.io/pod-index": str(at), HASH: revision,
            "statefulset.kubernetes.io/pod-name": f"a-{at}",
        }  # fmt: skip
        assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == (f"a-{at}", "a")
        (owner,) = pod["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["controller"]) == ("StatefulSet", True)
    assert await told(cluster, "a", "SuccessfulCreate", 2) == [
        "Create Pod a-0 in StatefulSet a successful",
        "Create Pod a-1 in StatefulSet a successful",
    ]


async def test_status_of_a_finished_set(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=2)
    status = (await rolled(cluster))["status"]
    revision = status["currentRevision"]
    assert status == {
        "observedGeneration": 1, "replicas": 2, "readyReplicas": 2, "currentReplicas": 2,
        "updatedReplicas": 2, "currentRevision": revision, "updateRevision": revision,
        "collisionCount": 0, "availableReplicas": 2,
    }  # fmt: skip
    (kept,) = await cluster.all("controllerrevisions", api=APPS)
    assert (kept["metadata"]["name"], kept["revision"]) == (revision, 1)
    assert kept["metadata"]["labels"] == {
        "app": "a", "controller.kubernetes.io/hash": revision.removeprefix("a-"),
    }  # fmt: skip
    assert kept["data"]["spec"]["template"]["$patch"] == "replace"
    assert kept["data"]["spec"]["template"]["metadata"] == {"labels": {"app": "a"}}


async def test_pod_waits_for_those_before_it(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(UNREADY)
    await made(cluster, replicas=2)
    await cluster.until_all("pods", lambda it: ready(it, "a-0"))
    assert names(await cluster.quiet("pods")) == ["a-0"]
    cluster.kubelet.let(READY)
    await rolled(cluster)


async def test_pods_do_not_wait_in_parallel(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(UNREADY)
    await made(cluster, replicas=3, podManagementPolicy="Parallel")
    await cluster.until_all("pods", lambda it: ready(it, "a-0", "a-1", "a-2"))
    await change(cluster, replicas=1)
    await cluster.until_all("pods", lambda it: ready(it, "a-0"))


async def test_surplus_pods_go_from_the_last(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=3)
    await rolled(cluster)
    await change(cluster, replicas=1)
    await cluster.until_all("pods", lambda it: ready(it, "a-0"))
    assert await told(cluster, "a", "SuccessfulDelete", 2) == [
        "Delete Pod a-2 in StatefulSet a successful",
        "Delete Pod a-1 in StatefulSet a successful",
    ]


async def test_rolling_update_goes_from_the_last(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=3)
    before = await rolled(cluster)
    await change(cluster, template=template("a", "two"))
    after = await rolled(cluster)
    assert before["status"]["currentRevision"] != after["status"]["currentRevision"]
    deleted = await told(cluster, "a", "SuccessfulDelete", 3)
    assert [text.split()[2] for text in deleted] == ["a-2", "a-1", "a-0"]
    images = [pod["spec"]["containers"][0]["image"] for pod in await cluster.all("pods")]
    assert images == ["two"] * 3


async def test_partition_holds_the_first_pods_back(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=3, updateStrategy={"rollingUpdate": {"partition": 2}})
    before = (await rolled(cluster))["status"]["currentRevision"]
    await change(cluster, template=template("a", "two"))
    found = await cluster.until(
        "statefulsets", "a",
        lambda it: it["status"].get("updatedReplicas") == 1
        and it["status"].get("readyReplicas") == 3
        and it["status"]["currentRevision"] != it["status"]["updateRevision"],
        api=APPS,
    )  # fmt: skip
    assert found["status"]["currentReplicas"] == 2
    assert found["status"]["currentRevision"] == before
    await cluster.delete(cluster.path("pods", "a-0"))
    await cluster.until_all("pods", lambda it: ready(it, "a-0", "a-1", "a-2"))
    images = [pod["spec"]["containers"][0]["image"] for pod in await cluster.all("pods")]
    assert images == ["one", "one", "two"]


async def test_outdated_pods_stay_until_they_are_deleted(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=2, updateStrategy={"type": "OnDelete"})
    await cluster.until_all("pods", lambda it: ready(it, "a-0", "a-1"))
    await change(cluster, template=template("a", "two"))
    await cluster.quiet("pods")
    await cluster.delete(cluster.path("pods", "a-0"))
    await cluster.until_all("pods", lambda it: ready(it, "a-0", "a-1") and image(it[0]) == "two")
    assert image((await cluster.all("pods"))[1]) == "one"


def image(pod: JsonObject) -> str:
    found: str = pod["spec"]["containers"][0]["image"]
    return found


async def test_failed_pod_is_made_anew(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=1)
    (first,) = await cluster.until_all("pods", lambda it: ready(it, "a-0"))
    cluster.kubelet.let(FAILED)
    await cluster.until("pods", "a-0", lambda it: it["metadata"]["uid"] != first["metadata"]["uid"])


async def test_numbers_may_start_anywhere(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=2, ordinals={"start": 5})
    await cluster.until_all("pods", lambda it: ready(it, "a-5", "a-6"))
    await change(cluster, ordinals={"start": 6})
    await cluster.until_all("pods", lambda it: ready(it, "a-6", "a-7"))


async def test_pods_have_claims_of_their_own(cluster: ControllerCluster) -> None:
    mounting = template("a")
    mounting["spec"]["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    await made(cluster, replicas=2, volumeClaimTemplates=[CLAIM], template=mounting)
    await cluster.until_all("pods", lambda it: ready(it, "a-0", "a-1"))
    held = await cluster.all("persistentvolumeclaims")
    assert names(held) == ["data-a-0", "data-a-1"]
    assert all(claim["metadata"]["labels"] == {"app": "a"} for claim in held)
    assert all("ownerReferences" not in claim["metadata"] for claim in held)
    volumes = (await cluster.get(cluster.path("pods", "a-1")))["spec"]["volumes"]
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "data-a-1"}}
    assert claim in volumes
    await change(cluster, replicas=0)
    await cluster.until_all("pods", lambda it: not it)
    assert names(await cluster.all("persistentvolumeclaims")) == ["data-a-0", "data-a-1"]
    created = await told(cluster, "a", "SuccessfulCreate", 4)
    assert [text for text in created if "Claim" in text] == [
        f"Create Claim data-a-{at} Pod a-{at} in StatefulSet a success" for at in (0, 1)
    ]


async def test_claims_go_with_surplus_pods_if_asked_for(cluster: ControllerCluster) -> None:
    policy = {"whenScaled": "Delete", "whenDeleted": "Retain"}
    await made(
        cluster, replicas=2, volumeClaimTemplates=[CLAIM],
        persistentVolumeClaimRetentionPolicy=policy,
    )  # fmt: skip
    await cluster.until_all("pods", lambda it: ready(it, "a-0", "a-1"))
    await change(cluster, replicas=1)
    await cluster.until_all("persistentvolumeclaims", lambda it: names(it) == ["data-a-0"])
    await change(cluster, replicas=2)
    await cluster.until_all("pods", lambda it: ready(it, "a-0", "a-1"))


async def test_claims_go_with_the_set_if_asked_for(cluster: ControllerCluster) -> None:
    policy = {"whenScaled": "Retain", "whenDeleted": "Delete"}
    await made(
        cluster, replicas=1, volumeClaimTemplates=[CLAIM],
        persistentVolumeClaimRetentionPolicy=policy,
    )  # fmt: skip
    found = await rolled(cluster)

    def owned(held: list[JsonObject]) -> bool:
        owners = [claim["metadata"].get("ownerReferences") or [] for claim in held]
        return [[each["uid"] for each in owner] for owner in owners] == [[found["metadata"]["uid"]]]

    await cluster.until_all("persistentvolumeclaims", owned)
    await cluster.delete(cluster.path("statefulsets", "a", APPS))
    await cluster.until_all("persistentvolumeclaims", lambda it: not it)


async def test_pods_become_available_after_a_while(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=2, minReadySeconds=3)
    found = await cluster.until(
        "statefulsets", "a", lambda it: it["status"].get("readyReplicas") == 1, api=APPS
    )
    assert found["status"]["availableReplicas"] == 0
    assert names(await cluster.all("pods")) == ["a-0"]
    await cluster.until(
        "statefulsets", "a", lambda it: it["status"]["availableReplicas"] == 2, api=APPS
    )


async def test_history_of_a_set_has_a_limit(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=1, revisionHistoryLimit=1)
    for version in ("two", "three", "four", "two"):
        await rolled(cluster)
        await change(cluster, template=template("a", version))
    await rolled(cluster)

    def kept(found: list[JsonObject]) -> list[tuple[int, str]]:
        images = [it["data"]["spec"]["template"]["spec"]["containers"][0] for it in found]
        return sorted(
            (it["revision"], each["image"]) for it, each in zip(found, images, strict=True)
        )

    await cluster.until_all("controllerrevisions", lambda it: len(it) == 2, api=APPS)
    assert kept(await cluster.all("controllerrevisions", api=APPS)) == [(4, "four"), (5, "two")]


async def test_old_template_is_a_new_revision_of_the_old_one(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=1)
    first = (await rolled(cluster))["status"]["currentRevision"]
    await change(cluster, template=template("a", "two"))
    await rolled(cluster)
    await change(cluster, template=template("a", "one"))
    assert (await rolled(cluster))["status"]["currentRevision"] == first
    kept = await cluster.all("controllerrevisions", api=APPS)
    assert {it["metadata"]["name"]: it["revision"] for it in kept}[first] == 3
