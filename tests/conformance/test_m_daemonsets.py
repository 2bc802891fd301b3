"""DaemonSets on both servers: which nodes they mean, rollouts, history."""

from __future__ import annotations

import re
from typing import Any

from conformance.kubelet import FAILED, READY, UNREADY
from conformance.workloads import APPS, daemon_set, template, told
from conformance.workshop import Workshop
from unit.cluster.api import Plain

HASH = "controller-revision-hash"
BORNE = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
]


async def made(workshop: Workshop, name: str = "a", **spec: Any) -> Plain:
    path = workshop.path("daemonsets", api=APPS)
    return await workshop.create(path, daemon_set(name, **spec))


async def change(workshop: Workshop, name: str = "a", **spec: Any) -> Plain:
    return await workshop.merge(workshop.path("daemonsets", name, APPS), {"spec": spec})


async def rolled(workshop: Workshop, count: int, name: str = "a") -> Plain:
    """The set, once its pods are available on so many nodes, all of them the newest."""

    def over(it: Plain) -> bool:
        status = it["status"]
        counts = ("desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable")
        return status.get("observedGeneration", 0) >= it["metadata"]["generation"] and all(
            status.get(field, 0) == count for field in counts
        )

    return await workshop.until("daemonsets", name, over, api=APPS)


async def on(workshop: Workshop, *nodes: str) -> list[Plain]:
    """The pods, once there is just one on each of these nodes."""

    def there(pods: list[Plain]) -> bool:
        alive = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
        return sorted(pod["spec"].get("nodeName", "") for pod in alive) == sorted(nodes)

    return await workshop.until_all("pods", there)


async def test_147_every_node_gets_a_pod(workshop: Workshop) -> None:
    await workshop.kubelet.join("second")
    await made(workshop)
    found = await rolled(workshop, 2)
    assert found["status"] == {
        "currentNumberScheduled": 2, "numberMisscheduled": 0, "desiredNumberScheduled": 2,
        "numberReady": 2, "observedGeneration": 1, "updatedNumberScheduled": 2,
        "numberAvailable": 2,
    }  # fmt: skip
    pods = await on(workshop, *workshop.kubelet.nodes)
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
    await workshop.kubelet.join("third")
    await rolled(workshop, 3)
    created = await told(workshop, "a", "SuccessfulCreate", 3)
    assert all(text.startswith("Created pod: a-") for text in created)


async def test_147_labels_choose_nodes(workshop: Workshop) -> None:
    blue = await workshop.kubelet.join("blue", labels={"colour": "blue"})
    await made(workshop, template=template("a", nodeSelector={"colour": "blue"}))
    await on(workshop, blue)
    (first, _) = workshop.kubelet.nodes
    await workshop.merge(f"/api/v1/nodes/{first}", {"metadata": {"labels": {"colour": "blue"}}})
    await on(workshop, blue, first)
    await workshop.merge(f"/api/v1/nodes/{blue}", {"metadata": {"labels": {"colour": "red"}}})
    await on(workshop, first)


async def test_147_affinity_chooses_nodes(workshop: Workshop) -> None:
    await workshop.kubelet.join("old", labels={"year": "1999"})
    new = await workshop.kubelet.join("new", labels={"year": "2020"})
    terms = [{"matchExpressions": [{"key": "year", "operator": "Gt", "values": ["2000"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    affinity = {"nodeAffinity": required}
    await made(workshop, template=template("a", affinity=affinity))
    await on(workshop, new)
    await rolled(workshop, 1)


async def test_147_taints_keep_pods_away(workshop: Workshop) -> None:
    taint = {"key": "mine", "value": "yes", "effect": "NoSchedule"}
    mine = await workshop.kubelet.join("mine", taints=[taint])
    (first, _) = workshop.kubelet.nodes
    await made(workshop)
    await on(workshop, first)
    toleration = {"key": "mine", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}
    await change(workshop, template=template("a", tolerations=[toleration]))
    await on(workshop, first, mine)


async def test_147_rollout_replaces_as_many_as_may_be_missing(workshop: Workshop) -> None:
    for name in ("second", "third"):
        await workshop.kubelet.join(name)
    await made(workshop)
    await rolled(workshop, 3)
    workshop.kubelet.let(UNREADY, version="two")
    changed = template("a", "two")
    changed["metadata"]["labels"]["version"] = "two"
    await change(workshop, template=changed)
    await workshop.until(
        "daemonsets", "a", lambda it: it["status"].get("updatedNumberScheduled") == 1, api=APPS
    )
    await workshop.quiet("pods")
    images = [pod["spec"]["containers"][0]["image"] for pod in await workshop.all("pods")]
    assert sorted(images) == ["one", "one", "two"]
    workshop.kubelet.let(READY)
    found = await rolled(workshop, 3)
    assert found["metadata"]["annotations"]["deprecated.daemonset.template.generation"] == "2"
    revisions = await workshop.all("controllerrevisions", api=APPS)
    assert sorted(it["revision"] for it in revisions) == [1, 2]


async def test_147_rollout_may_surge(workshop: Workshop) -> None:
    strategy = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    await made(workshop, updateStrategy=strategy)
    await rolled(workshop, 1)
    workshop.kubelet.let(UNREADY, version="two")
    changed = template("a", "two")
    changed["metadata"]["labels"]["version"] = "two"
    await change(workshop, template=changed)
    await workshop.until_all("pods", lambda pods: len(pods) == 2)
    await workshop.quiet("pods")
    assert len(await workshop.all("pods")) == 2
    workshop.kubelet.let(READY)
    await rolled(workshop, 1)
    await workshop.until_all("pods", lambda pods: len(pods) == 1)


async def test_147_outdated_daemons_stay_until_they_are_deleted(workshop: Workshop) -> None:
    await made(workshop, updateStrategy={"type": "OnDelete"})
    (pod,) = await on(workshop, *workshop.kubelet.nodes)
    await change(workshop, template=template("a", "two"))
    await workshop.quiet("pods")
    await workshop.delete(workshop.path("pods", pod["metadata"]["name"]))
    await workshop.until_all(
        "pods", lambda it: [p["spec"]["containers"][0]["image"] for p in it] == ["two"]
    )


async def test_147_failed_daemon_is_made_anew(workshop: Workshop) -> None:
    await made(workshop)
    (pod,) = await on(workshop, *workshop.kubelet.nodes)
    workshop.kubelet.let(FAILED)
    name = pod["metadata"]["name"]
    await workshop.until_gone("pods", name)
    workshop.kubelet.let(READY)
    await rolled(workshop, 1)
    (said, *_) = await told(workshop, "a", "FailedDaemonPod", 1)
    node = pod["spec"]["nodeName"]
    place = f"{workshop.namespace}/{name} on node {node}"
    assert said == f"Found failed daemon pod {place}, will try to kill it"


async def test_147_pod_with_the_labels_is_adopted(workshop: Workshop) -> None:
    (node,) = workshop.kubelet.nodes
    labels = {"app": "a"}
    spec = {"nodeName": node, "containers": [{"name": "main", "image": "one"}]}
    pod = {"metadata": {"name": "mine", "labels": labels}, "spec": spec}
    await workshop.create(workshop.path("pods"), pod)
    found = await made(workshop, updateStrategy={"type": "OnDelete"})
    adopted = await workshop.until("pods", "mine", lambda it: it["metadata"].get("ownerReferences"))
    assert adopted["metadata"]["ownerReferences"][0]["uid"] == found["metadata"]["uid"]
    assert len(await workshop.quiet("pods")) == 1
