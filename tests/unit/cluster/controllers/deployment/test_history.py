"""Promises of quintant.cluster.controllers.deployment.history."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from quintant.api.apps import (
    Deployment,
    DeploymentSpec,
    DeploymentStatus,
    ReplicaSet,
    ReplicaSetSpec,
    ReplicaSetStatus,
)
from quintant.api.meta import LabelSelector
from quintant.cluster.controllers.deployment.history import (
    REVISION,
    REVISIONS,
    described_set,
    new_replica_set,
    next_revision,
    sets_to_delete,
)
from quintant.cluster.controllers.deployment.rollout import Rollout
from quintant.core.object import ObjectMeta, Opaque, replace

TEMPLATE = Opaque.of({"metadata": {"labels": {"app": "a"}}, "spec": {"x": [1, None]}})


def deployment(name: str = "d", **annotations: str) -> Deployment:
    meta = ObjectMeta(name=name, namespace="n", uid="d", annotations=annotations)
    return Deployment(
        metadata=meta,
        spec=DeploymentSpec(
            replicas=2,
            template=TEMPLATE,
            min_ready_seconds=5,
            selector=LabelSelector(match_labels={"app": "a"}),
        ),
    )


def replicas(
    revision: str, notes: Mapping[str, str] = MappingProxyType({}), *, pods: int = 0
) -> ReplicaSet:
    notes = {REVISION: revision, **notes}
    return ReplicaSet(
        metadata=ObjectMeta(name=f"s{revision}", uid=f"s{revision}", annotations=notes),
        spec=ReplicaSetSpec(replicas=pods),
        status=ReplicaSetStatus(replicas=pods),
    )


def rollout(it: Deployment, *old: ReplicaSet, new: ReplicaSet | None = None) -> Rollout:
    return Rollout(it, new, old)


def test_new_set_carries_the_template_and_a_hash() -> None:
    made = new_replica_set(rollout(deployment(why="x", **{REVISION: "7"}), replicas("3")), 2)
    _, _, name = made.metadata.name.rpartition("-")
    labels = {"app": "a", "pod-template-hash": name}
    assert made.metadata.labels == made.spec.selector.match_labels == labels
    assert made.spec.template.value["metadata"]["labels"] == labels
    assert made.spec.template.value["spec"] == TEMPLATE.value["spec"]
    assert made.metadata.annotations == {
        "why": "x",
        "deployment.kubernetes.io/revision": "4",
        "deployment.kubernetes.io/desired-replicas": "2",
        "deployment.kubernetes.io/max-replicas": "2",
    }
    assert (made.spec.replicas, made.spec.min_ready_seconds) == (2, 5)


def test_long_name_is_cut() -> None:
    made = new_replica_set(rollout(deployment("x" * 253)), 1)
    assert len(made.metadata.name) == 253


def test_collision_gives_another_name() -> None:
    it = deployment()
    again = replace(it, status=DeploymentStatus(collision_count=1))
    assert (
        new_replica_set(rollout(it), 1).metadata.name
        != new_replica_set(rollout(again), 1).metadata.name
    )


def test_revision_is_beyond_all_old_ones() -> None:
    assert next_revision(rollout(deployment())) == 1
    assert next_revision(rollout(deployment(), replicas("2"), replicas("x"), replicas("10"))) == 11
    assert next_revision(rollout(deployment(), replicas("3546343826724305832"))) == (
        3546343826724305833
    )


def test_set_that_is_new_again_remembers_its_revisions() -> None:
    new = replicas("1")
    again = described_set(rollout(deployment(), replicas("2"), new=new), new)
    assert again.metadata.annotations == {REVISION: "3", REVISIONS: "1"}
    third = described_set(rollout(deployment(), replicas("4"), new=again), again)
    assert third.metadata.annotations == {REVISION: "5", REVISIONS: "1,3"}
    assert third.spec.min_ready_seconds == 5


def test_set_that_stays_the_new_one_is_left_alone() -> None:
    new = replace(replicas("5"), spec=ReplicaSetSpec(replicas=0, min_ready_seconds=5))
    assert described_set(rollout(deployment(), replicas("2"), new=new), new) == new


def test_what_is_remembered_has_an_end() -> None:
    new = replicas("999", {REVISIONS: ",".join(map(str, range(100, 600)))})
    told = described_set(rollout(deployment(), replicas("1000"), new=new), new)
    revisions = told.metadata.annotations[REVISIONS]
    assert len(revisions) <= 2000
    assert revisions.endswith(",599,999")


def test_annotations_follow_the_deployment() -> None:
    new = replicas("1", {"why": "old", "kept": "yes"})
    told = described_set(rollout(deployment(why="new"), new=new), new)
    assert told.metadata.annotations == {REVISION: "1", "why": "new", "kept": "yes"}


@pytest.mark.parametrize(
    ("limit", "gone"),
    [(0, ["s1", "s2", "s10"]), (2, ["s1"]), (1, ["s1", "s2"]), (9, []), (2**31 - 1, [])],
)
def test_oldest_revisions_are_forgotten_first(limit: int, gone: list[str]) -> None:
    it = deployment()
    it = replace(it, spec=replace(it.spec, revision_history_limit=limit))
    told = sets_to_delete(rollout(it, replicas("10"), replicas("2"), replicas("1")))
    assert [each.metadata.name for each in told] == gone


def test_sets_with_pods_are_not_forgotten() -> None:
    it = deployment()
    it = replace(it, spec=replace(it.spec, revision_history_limit=0))
    busy = replicas("1", pods=1)
    unseen = replace(replicas("2"), metadata=replace(replicas("2").metadata, generation=4))
    assert not sets_to_delete(rollout(it, busy, unseen))
