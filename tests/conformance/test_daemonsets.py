"""DaemonSets on both servers: which nodes they mean, rollouts, history."""

from __future__ import annotations

import re
from typing import Any

from conformance.controller_cluster import ControllerCluster
from conformance.kubelet import FAILED, READY, UNREADY
from conformance.workloads import APPS, daemon_set, template, told
from unit.cluster.api import JsonObject

HASH = "controller-revision-hash"
BORNE = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
]


async def made(cluster: ControllerCluster, name: str = "a", **spec: Any) -> JsonObject:
    path = cluster.path("daemonsets", api=APPS)
    return await cluster.create(path, daemon_set(name, **spec))


async def change(cluster: ControllerCluster, name: str = "a", **spec: Any) -> JsonObject:
    return await cluster.merge(cluster.path("daemonsets", name, APPS), {"spec": spec})


async def rolled(cluster: ControllerCluster, count: int, name: str = "a") -> JsonObject:
    """The set, once its pods are available on so many nodes, all of them the newest."""

    def over(it: JsonObject) -> bool:
        status = it["status"]
        counts = ("desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable")
        return status.get("observedGeneration", 0) >= it["metadata"]["generation"] and all(
            status.get(field, 0) == count for field in counts
        )

    return await cluster.until("daemonsets", name, over, api=APPS)


async def on(cluster: ControllerCluster, *nodes: str) -> list[JsonObject]:
    """The pods, once there is just one on each of these nodes."""

    def there(pods: list[JsonObject]) -> bool:
        alive = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
        return sorted(pod["spec"].get("nodeName", "") for pod in alive) == sorted(nodes)

    return await cluster.until_all("pods", there)


async def test_every_node_gets_a_pod(cluster: ControllerCluster) -> None:
    await cluster.kubelet.join("second")
    await made(cluster)
    found = await rolled(cluster, 2)
    assert found["status"] == {
        "currentNumberScheduled": 2, "numberMisscheduled": 0, "desiredNumberScheduled": 2,
        "numberReady": 2, "observedGeneration": 1, "updatedNumberScheduled": 2,
        "numberAvailable": 2,
    }  # fmt: skip
    pods = await on(cluster, *cluster.kubelet.nodes)
    for pod in pods:
        assert set(pod["metadata"]["labels"]) == {"app", HASH, "pod-template-generation"}
        assert pod["metadata"]["labels"]["pod-template-generation"] == "1"
        assert re.fullmatch("[bcdf456789]{6,10}", pod["metadata"]["labels"][HASH])
        assert pod["metadata"]["generateName"] == "a-"
        borne = [(each["key"], each["effect"]) for each in pod["spec"]["tolerations"]]
        assert borne == BORNE
        terms = pod["spec"]["affinity"]["nodeAffinity"][
            "requiredDuringSchedulingIgnoredDuringExecution"
        ]["nodeSelectorTerms"]
        assert terms == [
            {"matchFields": [
                {"key": "metadata.name", "operator": "In", "values": [pod["spec"]["nodeName"]]}
            ]}
        ]  # fmt: skip
    await cluster.kubelet.join("third")
    await rolled(cluster, 3)
    created = await told(cluster, "a", "SuccessfulCreate", 3)
    assert all(text.startswith("Created pod: a-") for text in created)


async def test_labels_choose_nodes(cluster: ControllerCluster) -> None:
    blue = await cluster.kubelet.join("blue", labels={"colour": "blue"})
    await made(cluster, template=template("a", nodeSelector={"colour": "blue"}))
    await on(cluster, blue)
    (first, _) = cluster.kubelet.nodes
    await cluster.merge(f"/api/v1/nodes/{first}", {"metadata": {"labels": {"colour": "blue"}}})
    await on(cluster, blue, first)
    await cluster.merge(f"/api/v1/nodes/{blue}", {"metadata": {"labels": {"colour": "red"}}})
    await on(cluster, first)


async def test_affinity_chooses_nodes(cluster: ControllerCluster) -> None:
    await cluster.kubelet.join("old", labels={"year": "1999"})
    new = await cluster.kubelet.join("new", labels={"year": "2020"})
    terms = [{"matchExpressions": [{"key": "year", "operator": "Gt", "values": ["2000"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    affinity = {"nodeAffinity": required}
    await made(cluster, template=template("a", affinity=affinity))
    await on(cluster, new)
    await rolled(cluster, 1)


async def test_taints_keep_pods_away(cluster: ControllerCluster) -> None:
    taint = {"key": "mine", "value": "yes", "effect": "NoSchedule"}
    mine = await cluster.kubelet.join("mine", taints=[taint])
    (first, _) = cluster.kubelet.nodes
    await made(cluster)
    await on(cluster, first)
    toleration = {"key": "mine", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}
    await change(cluster, template=template("a", tolerations=[toleration]))
    await on(cluster, first, mine)


async def test_rollout_replaces_as_many_as_may_be_missing(cluster: ControllerCluster) -> None:
    for name in ("second", "third"):
        await cluster.kubelet.join(name)
    await made(cluster)
    await rolled(cluster, 3)
    cluster.kubelet.let(UNREADY, version="two")
    changed = template("a", "two")
    changed["metadata"]["labels"]["version"] = "two"
    await change(cluster, template=changed)
    await cluster.until(
        "daemonsets", "a", lambda it: it["status"].get("updatedNumberScheduled") == 1, api=APPS
    )
    await cluster.quiet("pods")
    images = [pod["spec"]["containers"][0]["image"] for pod in await cluster.all("pods")]
    assert sorted(images) == ["one", "one", "two"]
    cluster.kubelet.let(READY)
    found = await rolled(cluster, 3)
    assert found["metadata"]["annotations"]["deprecated.daemonset.template.generation"] == "2"
    revisions = await cluster.all("controllerrevisions", api=APPS)
    assert sorted(it["revision"] for it in revisions) == [1, 2]


async def test_rollout_may_surge(cluster: ControllerCluster) -> None:
    strategy = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    await made(cluster, updateStrategy=strategy)
    await rolled(cluster, 1)
    cluster.kubelet.let(UNREADY, version="two")
    changed = template("a", "two")
    changed["metadata"]["labels"]["version"] = "two"
    await change(cluster, template=changed)
    await cluster.until_all("pods", lambda pods: len(pods) == 2)
    await cluster.quiet("pods")
    assert len(await cluster.all("pods")) == 2
    cluster.kubelet.let(READY)
    await rolled(cluster, 1)
    await cluster.until_all("pods", lambda pods: len(pods) == 1)


async def test_outdated_daemons_stay_until_they_are_deleted(cluster: ControllerCluster) -> None:
    await made(cluster, updateStrategy={"type": "OnDelete"})
    (pod,) = await on(cluster, *cluster.kubelet.nodes)
    await change(cluster, template=template("a", "two"))
    await cluster.quiet("pods")
    await cluster.delete(cluster.path("pods", pod["metadata"]["name"]))
    await cluster.until_all(
        "pods", lambda it: [p["spec"]["containers"][0]["image"] for p in it] == ["two"]
    )


async def test_failed_daemon_is_made_anew(cluster: ControllerCluster) -> None:
    await made(cluster)
    (pod,) = await on(cluster, *cluster.kubelet.nodes)
    cluster.kubelet.let(FAILED)
    name = pod["metadata"]["name"]
    await cluster.until_gone("pods", name)
    cluster.kubelet.let(READY)
    await rolled(cluster, 1)
    (said, *_) = await told(cluster, "a", "FailedDaemonPod", 1)
    node = pod["spec"]["nodeName"]
    place = f"{cluster.namespace}/{name} on node {node}"
    assert said == f"Found failed daemon pod {place}, will try to kill it"


async def test_pod_with_the_labels_is_adopted(cluster: ControllerCluster) -> None:
    (node,) = cluster.kubelet.nodes
    labels = {"app": "a"}
    spec = {"nodeName": node, "containers": [{"name": "main", "image": "one"}]}
    pod = {"metadata": {"name": "mine", "labels": labels}, "spec": spec}
    await cluster.create(cluster.path("pods"), pod)
    found = await made(cluster, updateStrategy={"type": "OnDelete"})
    adopted = await cluster.until("pods", "mine", lambda it: it["metadata"].get("ownerReferences"))
    assert adopted["metadata"]["ownerReferences"][0]["uid"] == found["metadata"]["uid"]
    assert len(await cluster.quiet("pods")) == 1
