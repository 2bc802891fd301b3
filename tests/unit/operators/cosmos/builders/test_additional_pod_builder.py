"""Pods beside nodes follow their version, and are behind no Service of theirs."""

from __future__ import annotations

from quintant.operators.cosmos.builders.additional_pod_builder import build_additional_pods
from unit.operators.cosmos.full_nodes import full_node, instance

PODS = [
    {"name": "metrics", "preferSameNode": True, "metadata": {"labels": {"a": "b"}},
     "containers": [{"name": "node", "image": "m:1"}],
     "affinity": {"nodeAffinity": {"x": 1}}},
    {"name": "bridge", "containers": [{"name": "bridge", "image": "b:1"}]},
]  # fmt: skip


def test_each_instance_has_its_own_and_they_say_whose_they_are() -> None:
    of = full_node(replicas=2, additionalVersionedPods=PODS)
    found = [pod for at in range(2) for pod in build_additional_pods(of, instance(of, at), 0)]
    assert [pod.metadata.name for pod in found] == [
        "metrics-0",
        "bridge-0",
        "metrics-1",
        "bridge-1",
    ]
    ordinals = [pod.metadata.annotations["app.kubernetes.io/ordinal"] for pod in found]
    assert ordinals == ["1000", "1001", "1100", "1101"]
    labels = found[2].metadata.labels
    assert labels["app.kubernetes.io/name"] == "hub-metrics"
    assert labels["app.kubernetes.io/instance"] == "metrics-1"
    assert labels["cosmos.strange.love/belongs-to"] == "hub-1"
    assert labels["a"] == "b"


def test_a_wish_to_be_on_the_same_node_is_added_to_the_users() -> None:
    of = full_node(additionalVersionedPods=PODS)
    affinity = build_additional_pods(of, instance(of), 0)[0].spec.value["affinity"]
    assert affinity["nodeAffinity"] == {"x": 1}
    (wish,) = affinity["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert wish["weight"] == 100
    assert wish["podAffinityTerm"]["labelSelector"]["matchLabels"] == {
        "app.kubernetes.io/instance": "hub-0"
    }


def test_the_version_of_the_instance_is_theirs() -> None:
    table = [{"height": 0, "image": "v1"},
             {"height": 5, "image": "v2", "containers": {"bridge": "b:2"}}]  # fmt: skip
    of = full_node(chain={"versions": table}, additionalVersionedPods=PODS)
    metrics, bridge = (pod.spec.value for pod in build_additional_pods(of, instance(of), 7))
    assert metrics["containers"][0]["image"] == "v2"
    assert bridge["containers"][0]["image"] == "b:2"


def test_one_may_be_disabled_by_its_own_name() -> None:
    of = full_node(
        additionalVersionedPods=PODS, instanceOverrides={"metrics-0": {"disable": "Pod"}}
    )
    assert [p.metadata.name for p in build_additional_pods(of, instance(of), 0)] == ["bridge-0"]
