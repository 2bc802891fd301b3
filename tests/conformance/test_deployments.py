"""Deployments on both servers: rollouts, scaling, history, and what they tell of themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from conformance.controller_cluster import ControllerCluster
from conformance.kubelet import READY, UNREADY
from conformance.workloads import APPS, conditions, container, deployment, reasons, told
from unit.cluster.api import JsonObject

HASH = re.compile("[bcdf456789]{6,10}")
SCALING = "ScalingReplicaSet"
LATE = "ProgressDeadlineExceeded"
PREFIX = "deployment.kubernetes.io"


async def made(cluster: ControllerCluster, name: str = "a", **spec: Any) -> JsonObject:
    return await cluster.create(cluster.path("deployments", api=APPS), deployment(name, **spec))


async def rolled(cluster: ControllerCluster, name: str = "a") -> JsonObject:
    """The Deployment, once its rollout is over."""
    return await cluster.until("deployments", name, over, api=APPS)


def over(it: JsonObject) -> bool:
    status, size = it["status"], it["spec"]["replicas"]
    if status.get("observedGeneration", 0) < it["metadata"]["generation"]:
        return False
    counts = ("replicas", "updatedReplicas", "availableReplicas", "readyReplicas")
    return all(status.get(count, 0) == size for count in counts) and (
        reasons(it).get("Progressing") in (None, "NewReplicaSetAvailable")
    )


async def sets(cluster: ControllerCluster) -> list[JsonObject]:
    found = await cluster.all("replicasets", api=APPS)
    return sorted(found, key=lambda it: int(it["metadata"]["annotations"][f"{PREFIX}/revision"]))


async def image(cluster: ControllerCluster, name: str, image: str) -> None:
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}}
    await cluster.strategic(cluster.path("deployments", name, APPS), patch)


async def test_deployment_makes_a_set_named_by_the_hash_of_its_template(
    cluster: ControllerCluster,
) -> None:
    await made(cluster, replicas=2)
    found = await rolled(cluster)
    (replicas,) = await sets(cluster)
    _, _, name = replicas["metadata"]["name"].rpartition("-")
    assert HASH.fullmatch(name)
    labels = {"app": "a", "pod-template-hash": name}
    assert replicas["metadata"]["labels"] == labels
    assert replicas["spec"]["selector"] == {"matchLabels": labels}
    assert replicas["spec"]["template"]["metadata"]["labels"] == labels
    (owner,) = replicas["metadata"]["ownerReferences"]
    assert owner == {
        "apiVersion": APPS, "kind": "Deployment", "name": "a", "uid": found["metadata"]["uid"],
        "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip
    assert replicas["metadata"]["annotations"] == {
        f"{PREFIX}/revision": "1",
        f"{PREFIX}/desired-replicas": "2",
        f"{PREFIX}/max-replicas": "3",
    }
    assert found["metadata"]["annotations"] == {f"{PREFIX}/revision": "1"}
    assert found["metadata"]["generation"] == 1
    pods = await cluster.all("pods")
    assert all(pod["metadata"]["labels"] == labels for pod in pods)
    assert all(pod["metadata"]["generateName"] == f"a-{name}-" for pod in pods)


async def test_status_of_a_finished_rollout(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=2)
    found = await rolled(cluster)
    (replicas,) = await sets(cluster)
    name = replicas["metadata"]["name"]
    status = {k: v for k, v in found["status"].items() if k != "conditions"}
    assert status == {
        "observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2,
        "availableReplicas": 2, "terminatingReplicas": 0,
    }  # fmt: skip
    assert conditions(found) == [
        ("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability."),
        (
            "Progressing", "True", "NewReplicaSetAvailable",
            f'ReplicaSet "{name}" has successfully progressed.',
        ),
    ]  # fmt: skip
    scaled = await told(cluster, "a", SCALING, 1)
    assert scaled == [f"Scaled up replica set {name} from 0 to 2"]


async def test_stuck_rollout_tells_that_it_is_not_available(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(UNREADY)
    await made(cluster, replicas=2)
    found = await cluster.until(
        "deployments", "a", lambda it: it["status"].get("updatedReplicas") == 2, api=APPS
    )
    assert reasons(found) == {
        "Available": "MinimumReplicasUnavailable",
        "Progressing": "ReplicaSetUpdated",
    }
    assert found["status"]["unavailableReplicas"] == 2


async def test_rolling_update_keeps_to_its_limits(cluster: ControllerCluster) -> None:
    limits = {"maxSurge": 1, "maxUnavailable": 0}
    await made(cluster, replicas=3, strategy={"rollingUpdate": limits})
    await rolled(cluster)
    await image(cluster, "a", "two")
    found = await rolled(cluster)
    old, new = await sets(cluster)
    assert (old["spec"]["replicas"], new["spec"]["replicas"]) == (0, 3)
    assert found["metadata"]["annotations"][f"{PREFIX}/revision"] == "2"
    one, two = old["metadata"]["name"], new["metadata"]["name"]
    assert await told(cluster, "a", SCALING, 7) == [
        f"Scaled up replica set {one} from 0 to 3",
        f"Scaled up replica set {two} from 0 to 1",
        f"Scaled down replica set {one} from 3 to 2",
        f"Scaled up replica set {two} from 1 to 2",
        f"Scaled down replica set {one} from 2 to 1",
        f"Scaled up replica set {two} from 2 to 3",
        f"Scaled down replica set {one} from 1 to 0",
    ]


@pytest.mark.parametrize(
    ("limits", "sizes"),
    [
        ({"maxSurge": "25%", "maxUnavailable": "25%"}, (3, 1)),
        ({"maxSurge": 0, "maxUnavailable": "1%"}, (2, 1)),
        ({"maxSurge": 2, "maxUnavailable": 1}, (2, 3)),
        ({"maxSurge": "100%", "maxUnavailable": 0}, (3, 3)),
    ],
    ids=str,
)
async def test_percentages_are_rounded(
    cluster: ControllerCluster, limits: Mapping[str, Any], sizes: tuple[int, int]
) -> None:
    """How far a rollout to pods that never become ready gets."""
    await made(cluster, replicas=3, strategy={"rollingUpdate": limits})
    await rolled(cluster)
    cluster.kubelet.let(UNREADY, version="two")
    patch = {"spec": {"template": {"metadata": {"labels": {"version": "two"}}}}}
    await cluster.merge(cluster.path("deployments", "a", APPS), patch)

    def stuck(found: list[JsonObject]) -> bool:
        by = {len(it["spec"]["template"]["metadata"]["labels"]): it for it in found}
        return len(by) == 2 and (by[2]["spec"]["replicas"], by[3]["spec"]["replicas"]) == sizes

    await cluster.until_all("replicasets", stuck, api=APPS)
    await cluster.quiet("replicasets", api=APPS)
    assert stuck(await cluster.all("replicasets", api=APPS))


async def test_recreate_ends_the_old_pods_first(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=2, strategy={"type": "Recreate"})
    await rolled(cluster)
    await image(cluster, "a", "two")
    await rolled(cluster)
    old, new = (it["metadata"]["name"] for it in await sets(cluster))
    assert await told(cluster, "a", SCALING, 3) == [
        f"Scaled up replica set {old} from 0 to 2",
        f"Scaled down replica set {old} from 2 to 0",
        f"Scaled up replica set {new} from 0 to 2",
    ]


async def test_rollover_leaves_a_stuck_rollout_behind(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=3)
    await rolled(cluster)
    cluster.kubelet.let(UNREADY, version="two")
    path = cluster.path("deployments", "a", APPS)
    for version in ("two", "three"):
        label = {"spec": {"template": {"metadata": {"labels": {"version": version}}}}}
        await cluster.merge(path, label)
        await cluster.quiet("replicasets", api=APPS)
    await rolled(cluster)
    assert [it["spec"]["replicas"] for it in await sets(cluster)] == [0, 0, 3]


async def test_scaling_amidst_a_rollout_is_proportional(cluster: ControllerCluster) -> None:
    limits = {"maxSurge": 3, "maxUnavailable": 2}
    await made(cluster, replicas=10, strategy={"rollingUpdate": limits})
    await rolled(cluster)
    cluster.kubelet.let(UNREADY, version="two")
    path = cluster.path("deployments", "a", APPS)
    label = {"spec": {"template": {"metadata": {"labels": {"version": "two"}}}}}
    await cluster.merge(path, label)

    def sized(*wanted: int) -> Any:
        return lambda found: sorted(it["spec"]["replicas"] for it in found) == sorted(wanted)

    await cluster.until_all("replicasets", sized(8, 5), api=APPS)
    await cluster.merge(path, {"spec": {"replicas": 30}})
    await cluster.until_all("replicasets", sized(20, 13), api=APPS)
    old, new = await sets(cluster)
    marks = [f"{PREFIX}/desired-replicas", f"{PREFIX}/max-replicas"]
    for it in (old, new):
        assert [it["metadata"]["annotations"][mark] for mark in marks] == ["30", "33"]
    assert (old["spec"]["replicas"], new["spec"]["replicas"]) == (20, 13)


async def test_paused_deployment_scales_and_does_not_roll(cluster: ControllerCluster) -> None:
    await made(cluster)
    await rolled(cluster)
    path = cluster.path("deployments", "a", APPS)
    await cluster.merge(path, {"spec": {"paused": True}})
    found = await cluster.until(
        "deployments", "a", lambda it: reasons(it)["Progressing"] == "DeploymentPaused", api=APPS
    )
    assert ("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused") in conditions(
        found
    )
    await image(cluster, "a", "two")
    await cluster.merge(path, {"spec": {"replicas": 3}})
    await cluster.until(
        "deployments", "a", lambda it: it["status"].get("readyReplicas") == 3, api=APPS
    )
    assert [it["spec"]["replicas"] for it in await sets(cluster)] == [3]
    await cluster.merge(path, {"spec": {"paused": False}})
    await rolled(cluster)
    assert [it["spec"]["replicas"] for it in await sets(cluster)] == [0, 3]


async def test_old_revisions_are_kept_up_to_a_limit(cluster: ControllerCluster) -> None:
    await made(cluster, revisionHistoryLimit=1)
    for version in ("two", "three", "four"):
        await rolled(cluster)
        await image(cluster, "a", version)
    await rolled(cluster)
    kept = await cluster.until_all("replicasets", lambda found: len(found) == 2, api=APPS)
    assert sorted(it["metadata"]["annotations"][f"{PREFIX}/revision"] for it in kept) == ["3", "4"]


async def test_old_template_is_a_new_revision_of_the_old_set(cluster: ControllerCluster) -> None:
    await made(cluster)
    await rolled(cluster)
    await image(cluster, "a", "two")
    await rolled(cluster)
    await image(cluster, "a", "one")
    found = await rolled(cluster)
    two, one = await sets(cluster)
    assert container(one)["image"] == "one"
    assert container(two)["image"] == "two"
    assert one["metadata"]["annotations"][f"{PREFIX}/revision"] == "3"
    assert one["metadata"]["annotations"][f"{PREFIX}/revision-history"] == "1"
    assert found["metadata"]["annotations"][f"{PREFIX}/revision"] == "3"


async def test_annotations_go_to_the_new_set_only(cluster: ControllerCluster) -> None:
    await made(cluster)
    await rolled(cluster)
    path = cluster.path("deployments", "a", APPS)
    changed = await cluster.merge(path, {"metadata": {"annotations": {"why": "because"}}})
    assert changed["metadata"]["generation"] == 2
    await cluster.until_all(
        "replicasets", lambda it: it[0]["metadata"]["annotations"].get("why"), api=APPS
    )


async def test_lack_of_progress_is_told_after_a_deadline(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(UNREADY)
    await made(cluster, progressDeadlineSeconds=2)
    found = await cluster.until(
        "deployments", "a", lambda it: reasons(it).get("Progressing") == LATE, api=APPS
    )
    (replicas,) = await sets(cluster)
    text = f'ReplicaSet "{replicas["metadata"]["name"]}" has timed out progressing.'
    assert ("Progressing", "False", LATE, text) in conditions(found)
    cluster.kubelet.let(READY)
    await rolled(cluster)


async def test_pods_are_available_after_a_while(cluster: ControllerCluster) -> None:
    await made(cluster, minReadySeconds=3)
    found = await cluster.until(
        "deployments", "a", lambda it: it["status"].get("readyReplicas") == 1, api=APPS
    )
    assert "availableReplicas" not in found["status"]
    assert reasons(found)["Available"] == "MinimumReplicasUnavailable"
    (replicas,) = await sets(cluster)
    assert replicas["spec"]["minReadySeconds"] == 3
    await rolled(cluster)


async def test_set_without_an_owner_is_adopted(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=2)
    await rolled(cluster)
    (before,) = await sets(cluster)
    options = {"propagationPolicy": "Orphan"}
    await cluster.delete(cluster.path("deployments", "a", APPS), options)
    await cluster.until_gone("deployments", "a", api=APPS)
    await made(cluster, replicas=2)
    found = await rolled(cluster)
    (after,) = await sets(cluster)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["metadata"]["ownerReferences"][0]["uid"] == found["metadata"]["uid"]


async def test_collision_of_names_is_counted(cluster: ControllerCluster) -> None:
    await made(cluster, "a")
    await rolled(cluster)
    (first,) = await sets(cluster)
    await cluster.delete(cluster.path("deployments", "a", APPS))
    await cluster.until_all("replicasets", lambda found: not found, api=APPS)
    stranger = {
        "metadata": {"name": first["metadata"]["name"], "labels": {"app": "other"}},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "other"}},
            "template": {"metadata": {"labels": {"app": "other"}},
                         "spec": {"containers": [{"name": "main", "image": "other"}]}},
        },
    }  # fmt: skip
    await cluster.create(cluster.path("replicasets", api=APPS), stranger)
    await made(cluster, "a")
    found = await rolled(cluster)
    assert found["status"]["collisionCount"] == 1
    names = {it["metadata"]["name"] for it in await cluster.all("replicasets", api=APPS)}
    assert len(names) == 2


async def test_scale_subresource(cluster: ControllerCluster) -> None:
    await made(cluster)
    await rolled(cluster)
    path = cluster.path("deployments", "a", APPS, "scale")
    await cluster.merge(path, {"spec": {"replicas": 2}})
    await cluster.until("deployments", "a", lambda it: it["status"].get("replicas") == 2, api=APPS)
    scale = await cluster.get(path)
    assert scale["status"] == {"replicas": 2, "selector": "app=a"}


async def test_deployment_of_nothing_is_complete(cluster: ControllerCluster) -> None:
    await made(cluster, replicas=0)
    found = await rolled(cluster)
    assert reasons(found) == {
        "Available": "MinimumReplicasAvailable",
        "Progressing": "NewReplicaSetAvailable",
    }
    assert await told(cluster, "a", SCALING, 0) == []
