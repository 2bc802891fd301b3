"""Promises of quintant.cluster.controllers.daemonset.placement."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.api.apps import DaemonSet, DaemonSetSpec
from quintant.api.core import Taint
from quintant.cluster.common.views import NodeSpecView
from quintant.cluster.controllers.daemonset.placement import (
    ShouldRun,
    new_pod,
    node_should_run_pod,
    pod_is_updated,
    target_node,
)
from quintant.cluster.controllers.nodes.views import NodeState
from quintant.cluster.controllers.pods.views import PodState
from quintant.core import codec
from quintant.core.object import ObjectMeta, Opaque

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def daemons(**spec: Any) -> DaemonSet:
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [], **spec}}
    notes = {"deprecated.daemonset.template.generation": "4"}
    return DaemonSet(
        metadata=ObjectMeta(name="a", namespace="n", uid="a", annotations=notes),
        spec=DaemonSetSpec(template=Opaque.of(template)),
    )


def node(name: str = "n1", *taints: tuple[str, str], **labels: str) -> NodeState:
    held = tuple(Taint(key=key, effect=effect) for key, effect in taints)
    return NodeState(metadata=ObjectMeta(name=name, labels=labels), spec=NodeSpecView(taints=held))


def affine(**term: Any) -> dict[str, Any]:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, ShouldRun.RUN),
        ({"nodeName": "n1"}, ShouldRun.RUN),
        ({"nodeName": "n2"}, ShouldRun.LEAVE),
        ({"nodeSelector": {"disk": "fast"}}, ShouldRun.RUN),
        ({"nodeSelector": {"disk": "slow"}}, ShouldRun.LEAVE),
        (
            {"affinity": affine(matchExpressions=[{"key": "disk", "operator": "Exists"}])},
            ShouldRun.RUN,
        ),
        (
            {"affinity": affine(matchFields=[
                {"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}])},
            ShouldRun.LEAVE,
        ),
    ],
)  # fmt: skip
def test_template_chooses_nodes(spec: dict[str, Any], expected: ShouldRun) -> None:
    assert node_should_run_pod(daemons(**spec), node(disk="fast")) is expected


@pytest.mark.parametrize(
    ("key", "effect", "expected"),
    [
        ("mine", "NoSchedule", ShouldRun.STAY),
        ("mine", "NoExecute", ShouldRun.LEAVE),
        ("node.kubernetes.io/unreachable", "NoExecute", ShouldRun.RUN),
        ("node.kubernetes.io/not-ready", "NoSchedule", ShouldRun.STAY),
        ("node.kubernetes.io/unschedulable", "NoSchedule", ShouldRun.RUN),
        ("node.kubernetes.io/network-unavailable", "NoSchedule", ShouldRun.STAY),
    ],
)
def test_taints_of_failing_nodes_are_borne(key: str, effect: str, expected: ShouldRun) -> None:
    assert node_should_run_pod(daemons(), node("n1", (key, effect))) is expected


def test_pod_in_the_hosts_network_needs_no_other() -> None:
    away = node("n1", ("node.kubernetes.io/network-unavailable", "NoSchedule"))
    assert node_should_run_pod(daemons(hostNetwork=True), away) is ShouldRun.RUN


def test_pod_is_bound_to_its_node_by_affinity_alone() -> None:
    preferred: dict[str, Any] = {"preferredDuringSchedulingIgnoredDuringExecution": []}
    affinity = {"nodeAffinity": {**preferred, **affine(matchExpressions=[])["nodeAffinity"]},
                "podAffinity": {"x": 1}}  # fmt: skip
    made = new_pod(daemons(affinity=affinity), "n7", "h").spec.value["affinity"]
    assert made["podAffinity"] == {"x": 1}
    assert made["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] == []
    field = {"key": "metadata.name", "operator": "In", "values": ["n7"]}
    assert made["nodeAffinity"][REQUIRED] == {"nodeSelectorTerms": [{"matchFields": [field]}]}


def test_pod_without_a_node_tells_which_it_is_meant_for() -> None:
    made = new_pod(daemons(), "n7", "h")
    seen = codec.decode(PodState, codec.encode_object(made))
    assert target_node(seen) == "n7"
    assert target_node(PodState()) == ""


def test_toleration_that_says_less_is_replaced() -> None:
    brief = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute",
             "tolerationSeconds": 5}  # fmt: skip
    other = {"key": "x", "operator": "Exists"}
    made = new_pod(daemons(tolerations=[other, brief]), "n1", "h").spec.value["tolerations"]
    assert made[0] == other
    assert made[1] == {key: brief[key] for key in ("key", "operator", "effect")}
    assert len(made) == 7


def test_pod_is_new_by_hash_or_by_generation() -> None:
    def labelled(**labels: str) -> PodState:
        held = {name.replace("_", "-"): value for name, value in labels.items()}
        return PodState(metadata=ObjectMeta(labels=held))

    assert pod_is_updated(daemons(), labelled(controller_revision_hash="h"), "h")
    assert pod_is_updated(daemons(), labelled(pod_template_generation="4"), "h")
    assert not pod_is_updated(daemons(), labelled(pod_template_generation="3"), "h")
    assert not pod_is_updated(daemons(), labelled(), "h")
