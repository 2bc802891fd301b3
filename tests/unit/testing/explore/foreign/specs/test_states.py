"""A world that was reached in steps is compared by what is there, not by how it came."""

from __future__ import annotations

from typing import Any

from quintant.testing.explore.foreign.specs.states import is_hopeless, wants_pods, without_history


def pod(phase: str) -> dict[str, Any]:
    return {"kind": "Pod", "metadata": {"name": "a-0"}, "status": {"phase": phase}}


def stateful_set(ready: int) -> dict[str, Any]:
    return {
        "kind": "StatefulSet",
        "metadata": {"name": "a"},
        "spec": {"replicas": 2},
        "status": {"readyReplicas": ready, "currentRevision": f"a-{ready}"},
    }


def test_replica_sets_and_revisions_of_before_count_nothing() -> None:
    old = {"kind": "ReplicaSet", "metadata": {"name": "a-1"}, "spec": {"replicas": 0}}
    state = {"replicasets.apps default/a-1": old, "controllerrevisions.apps default/a-1": {}}
    assert without_history({**state, "pods default/a-0": pod("Running")}) == {
        "pods default/a-0": pod("Running")
    }


def test_the_number_of_a_revision_counts_nothing() -> None:
    deployment = {"kind": "Deployment", "metadata": {"annotations": {"mine": "yes"}}}
    second = {
        "kind": "Deployment",
        "metadata": {"annotations": {"mine": "yes", "deployment.kubernetes.io/revision": "2"}},
    }
    assert without_history({"a": second}) == without_history({"a": deployment})


def test_a_pod_that_never_runs_makes_a_spec_hopeless() -> None:
    assert is_hopeless({"pods default/a-0": pod("Pending")})
    assert not is_hopeless({"pods default/a-0": pod("Running")})


def test_who_gets_fewer_pods_than_it_asks_for_is_seen() -> None:
    assert wants_pods({"statefulsets.apps default/a": stateful_set(0)})
    assert not wants_pods({"statefulsets.apps default/a": stateful_set(2)})
