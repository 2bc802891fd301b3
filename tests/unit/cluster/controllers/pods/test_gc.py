"""Which pods are collected: table tests of the decision."""

from __future__ import annotations

from quintant.cluster.controllers.nodes.views import NodeState
from quintant.cluster.controllers.pods.gc import pods_to_collect
from quintant.cluster.controllers.pods.views import PodState
from quintant.core import codec


def pod(name: str, *, phase: str = "Running", node: str = "a", made: str = "") -> PodState:
    meta = {"name": name, "uid": name, "creationTimestamp": made or "2026-01-01T00:00:00Z"}
    return codec.from_plain(
        PodState, {"metadata": meta, "spec": {"nodeName": node}, "status": {"phase": phase}}
    )


NODES = {"a": codec.from_plain(NodeState, {"metadata": {"name": "a"}})}


def test_pods_of_missing_nodes_are_orphans() -> None:
    found = pods_to_collect([pod("x", node="b"), pod("y")], NODES, {"b"})
    assert [(each.pod.metadata.name, each.orphaned) for each in found] == [("x", True)]


def test_oldest_of_too_many_ended_pods_go_first() -> None:
    ended = [
        pod(f"p{day}", phase="Succeeded", made=f"2026-01-0{day}T00:00:00Z") for day in (3, 1, 2)
    ]
    found = pods_to_collect([*ended, pod("runs")], NODES, set(), limit=1)
    assert [each.pod.metadata.name for each in found] == ["p1", "p2"]


def test_ended_pods_within_the_limit_stay() -> None:
    assert pods_to_collect([pod("p", phase="Failed")], NODES, set()) == []
