"""Deployments on both servers: rollouts, scaling, history, and what they tell of themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from conformance.kubelet import READY, UNREADY
from conformance.workloads import APPS, conditions, container, deployment, reasons, told
from conformance.workshop import Workshop
from unit.cluster.api import Plain

HASH = re.compile("[bcdf456789]{6,10}")
SCALING = "ScalingReplicaSet"
LATE = "ProgressDeadlineExceeded"
PREFIX = "deployment.kubernetes.io"


async def made(workshop: Workshop, name: str = "a", **spec: Any) -> Plain:
    return await workshop.create(workshop.path("deployments", api=APPS), deployment(name, **spec))


async def rolled(workshop: Workshop, name: str = "a") -> Plain:
    """The Deployment, once its rollout is over."""
    return await workshop.until("deployments", name, over, api=APPS)


def over(it: Plain) -> bool:
    status, size = it["status"], it["spec"]["replicas"]
    if status.get("observedGeneration", 0) < it["metadata"]["generation"]:
        return False
    counts = ("replicas", "updatedReplicas", "availableReplicas", "readyReplicas")
    return all(status.get(count, 0) == size for count in counts) and (
        reasons(it).get("Progressing") in (None, "NewReplicaSetAvailable")
    )


async def sets(workshop: Workshop) -> list[Plain]:
    found = await workshop.all("replicasets", api=APPS)
    return sorted(found, key=lambda it: int(it["metadata"]["annotations"][f"{PREFIX}/revision"]))


async def image(workshop: Workshop, name: str, image: str) -> None:
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}}
    await workshop.strategic(workshop.path("deployments", name, APPS), patch)


async def test_140_deployment_makes_a_set_named_by_the_hash_of_its_template(
    workshop: Workshop,
) -> None:
    await made(workshop, replicas=2)
    found = await rolled(workshop)
    (replicas,) = await sets(workshop)
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
    pods = await workshop.all("pods")
    assert all(pod["metadata"]["labels"] == labels for pod in pods)
    assert all(pod["metadata"]["generateName"] == f"a-{name}-" for pod in pods)


async def test_140_status_of_a_finished_rollout(workshop: Workshop) -> None:
    await made(workshop, replicas=2)
    found = await rolled(workshop)
    (replicas,) = await sets(workshop)
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
    scaled = await told(workshop, "a", SCALING, 1)
    assert scaled == [f"Scaled up replica set {name} from 0 to 2"]


async def test_140_stuck_rollout_tells_that_it_is_not_available(workshop: Workshop) -> None:
    workshop.kubelet.let(UNREADY)
    await made(workshop, replicas=2)
    found = await workshop.until(
        "deployments", "a", lambda it: it["status"].get("updatedReplicas") == 2, api=APPS
    )
    assert reasons(found) == {
        "Available": "MinimumReplicasUnavailable",
        "Progressing": "ReplicaSetUpdated",
    }
    assert found["status"]["unavailableReplicas"] == 2


async def test_140_rolling_update_keeps_to_its_limits(workshop: Workshop) -> None:
    limits = {"maxSurge": 1, "maxUnavailable": 0}
    await made(workshop, replicas=3, strategy={"rollingUpdate": limits})
    await rolled(workshop)
    await image(workshop, "a", "two")
    found = await rolled(workshop)
    old, new = await sets(workshop)
    assert (old["spec"]["replicas"], new["spec"]["replicas"]) == (0, 3)
    assert found["metadata"]["annotations"][f"{PREFIX}/revision"] == "2"
    one, two = old["metadata"]["name"], new["metadata"]["name"]
    assert await told(workshop, "a", SCALING, 7) == [
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
async def test_140_percentages_are_rounded(
    workshop: Workshop, limits: Mapping[str, Any], sizes: tuple[int, int]
) -> None:
    """How far a rollout to pods that never become ready gets."""
    await made(workshop, replicas=3, strategy={"rollingUpdate": limits})
    await rolled(workshop)
    workshop.kubelet.let(UNREADY, version="two")
    patch = {"spec": {"template": {"metadata": {"labels": {"version": "two"}}}}}
    await workshop.merge(workshop.path("deployments", "a", APPS), patch)

    def stuck(found: list[Plain]) -> bool:
        by = {len(it["spec"]["template"]["metadata"]["labels"]): it for it in found}
        return len(by) == 2 and (by[2]["spec"]["replicas"], by[3]["spec"]["replicas"]) == sizes

    await workshop.until_all("replicasets", stuck, api=APPS)
    await workshop.quiet("replicasets", api=APPS)
    assert stuck(await workshop.all("replicasets", api=APPS))


async def test_140_recreate_ends_the_old_pods_first(workshop: Workshop) -> None:
    await made(workshop, replicas=2, strategy={"type": "Recreate"})
    await rolled(workshop)
    await image(workshop, "a", "two")
    await rolled(workshop)
    old, new = (it["metadata"]["name"] for it in await sets(workshop))
    assert await told(workshop, "a", SCALING, 3) == [
        f"Scaled up replica set {old} from 0 to 2",
        f"Scaled down replica set {old} from 2 to 0",
        f"Scaled up replica set {new} from 0 to 2",
    ]


async def test_140_rollover_leaves_a_stuck_rollout_behind(workshop: Workshop) -> None:
    await made(workshop, replicas=3)
    await rolled(workshop)
    workshop.kubelet.let(UNREADY, version="two")
    path = workshop.path("deployments", "a", APPS)
    for version in ("two", "three"):
        label = {"spec": {"template": {"metadata": {"labels": {"version": version}}}}}
        await workshop.merge(path, label)
        await workshop.quiet("replicasets", api=APPS)
    await rolled(workshop)
    assert [it["spec"]["replicas"] for it in await sets(workshop)] == [0, 0, 3]


async def test_140_scaling_amidst_a_rollout_is_proportional(workshop: Workshop) -> None:
    limits = {"maxSurge": 3, "maxUnavailable": 2}
    await made(workshop, replicas=10, strategy={"rollingUpdate": limits})
    await rolled(workshop)
    workshop.kubelet.let(UNREADY, version="two")
    path = workshop.path("deployments", "a", APPS)
    label = {"spec": {"template": {"metadata": {"labels": {"version": "two"}}}}}
    await workshop.merge(path, label)

    def sized(*wanted: int) -> Any:
        return lambda found: sorted(it["spec"]["replicas"] for it in found) == sorted(wanted)

    await workshop.until_all("replicasets", sized(8, 5), api=APPS)
    await workshop.merge(path, {"spec": {"replicas": 30}})
    await workshop.until_all("replicasets", sized(20, 13), api=APPS)
    old, new = await sets(workshop)
    marks = [f"{PREFIX}/desired-replicas", f"{PREFIX}/max-replicas"]
    for it in (old, new):
        assert [it["metadata"]["annotations"][mark] for mark in marks] == ["30", "33"]
    assert (old["spec"]["replicas"], new["spec"]["replicas"]) == (20, 13)


async def test_140_paused_deployment_scales_and_does_not_roll(workshop: Workshop) -> None:
    await made(workshop)
    await rolled(workshop)
    path = workshop.path("deployments", "a", APPS)
    await workshop.merge(path, {"spec": {"paused": True}})
    found = await workshop.until(
        "deployments", "a", lambda it: reasons(it)["Progressing"] == "DeploymentPaused", api=APPS
    )
    assert ("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused") in conditions(
        found
    )
    await image(workshop, "a", "two")
    await workshop.merge(path, {"spec": {"replicas": 3}})
    await workshop.until(
        "deployments", "a", lambda it: it["status"].get("readyReplicas") == 3, api=APPS
    )
    assert [it["spec"]["replicas"] for it in await sets(workshop)] == [3]
    await workshop.merge(path, {"spec": {"paused": False}})
    await rolled(workshop)
    assert [it["spec"]["replicas"] for it in await sets(workshop)] == [0, 3]


async def test_140_old_revisions_are_kept_up_to_a_limit(workshop: Workshop) -> None:
    await made(workshop, revisionHistoryLimit=1)
    for version in ("two", "three", "four"):
        await rolled(workshop)
        await image(workshop, "a", version)
    await rolled(workshop)
    kept = await workshop.until_all("replicasets", lambda found: len(found) == 2, api=APPS)
    assert sorted(it["metadata"]["annotations"][f"{PREFIX}/revision"] for it in kept) == ["3", "4"]


async def test_140_old_template_is_a_new_revision_of_the_old_set(workshop: Workshop) -> None:
    await made(workshop)
    await rolled(workshop)
    await image(workshop, "a", "two")
    await rolled(workshop)
    await image(workshop, "a", "one")
    found = await rolled(workshop)
    two, one = await sets(workshop)
    assert container(one)["image"] == "one"
    assert container(two)["image"] == "two"
    assert one["metadata"]["annotations"][f"{PREFIX}/revision"] == "3"
    assert one["metadata"]["annotations"][f"{PREFIX}/revision-history"] == "1"
    assert found["metadata"]["annotations"][f"{PREFIX}/revision"] == "3"


async def test_140_annotations_go_to_the_new_set_only(workshop: Workshop) -> None:
    await made(workshop)
    await rolled(workshop)
    path = workshop.path("deployments", "a", APPS)
    changed = await workshop.merge(path, {"metadata": {"annotations": {"why": "because"}}})
    assert changed["metadata"]["generation"] == 2
    await workshop.until_all(
        "replicasets", lambda it: it[0]["metadata"]["annotations"].get("why"), api=APPS
    )


async def test_140_lack_of_progress_is_told_after_a_deadline(workshop: Workshop) -> None:
    workshop.kubelet.let(UNREADY)
    await made(workshop, progressDeadlineSeconds=2)
    found = await workshop.until(
        "deployments", "a", lambda it: reasons(it).get("Progressing") == LATE, api=APPS
    )
    (replicas,) = await sets(workshop)
    text = f'ReplicaSet "{replicas["metadata"]["name"]}" has timed out progressing.'
    assert ("Progressing", "False", LATE, text) in conditions(found)
    workshop.kubelet.let(READY)
    await rolled(workshop)


async def test_140_pods_are_available_after_a_while(workshop: Workshop) -> None:
    await made(workshop, minReadySeconds=3)
    found = await workshop.until(
        "deployments", "a", lambda it: it["status"].get("readyReplicas") == 1, api=APPS
    )
    assert "availableReplicas" not in found["status"]
    assert reasons(found)["Available"] == "MinimumReplicasUnavailable"
    (replicas,) = await sets(workshop)
    assert replicas["spec"]["minReadySeconds"] == 3
    await rolled(workshop)


async def test_140_set_without_an_owner_is_adopted(workshop: Workshop) -> None:
    await made(workshop, replicas=2)
    await rolled(workshop)
    (before,) = await sets(workshop)
    options = {"propagationPolicy": "Orphan"}
    await workshop.delete(workshop.path("deployments", "a", APPS), options)
    await workshop.until_gone("deployments", "a", api=APPS)
    await made(workshop, replicas=2)
    found = await rolled(workshop)
    (after,) = await sets(workshop)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["metadata"]["ownerReferences"][0]["uid"] == found["metadata"]["uid"]


async def test_140_collision_of_names_is_counted(workshop: Workshop) -> None:
    await made(workshop, "a")
    await rolled(workshop)
    (first,) = await sets(workshop)
    await workshop.delete(workshop.path("deployments", "a", APPS))
    await workshop.until_all("replicasets", lambda found: not found, api=APPS)
    stranger = {
        "metadata": {"name": first["metadata"]["name"], "labels": {"app": "other"}},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "other"}},
            "template": {"metadata": {"labels": {"app": "other"}},
                         "spec": {"containers": [{"name": "main", "image": "other"}]}},
        },
    }  # fmt: skip
    await workshop.create(workshop.path("replicasets", api=APPS), stranger)
    await made(workshop, "a")
    found = await rolled(workshop)
    assert found["status"]["collisionCount"] == 1
    names = {it["metadata"]["name"] for it in await workshop.all("replicasets", api=APPS)}
    assert len(names) == 2


async def test_140_scale_subresource(workshop: Workshop) -> None:
    await made(workshop)
    await rolled(workshop)
    path = workshop.path("deployments", "a", APPS, "scale")
    await workshop.merge(path, {"spec": {"replicas": 2}})
    await workshop.until("deployments", "a", lambda it: it["status"].get("replicas") == 2, api=APPS)
    scale = await workshop.get(path)
    assert scale["status"] == {"replicas": 2, "selector": "app=a"}


async def test_140_deployment_of_nothing_is_complete(workshop: Workshop) -> None:
    await made(workshop, replicas=0)
    found = await rolled(workshop)
    assert reasons(found) == {
        "Available": "MinimumReplicasAvailable",
        "Progressing": "NewReplicaSetAvailable",
    }
    assert await told(workshop, "a", SCALING, 0) == []
