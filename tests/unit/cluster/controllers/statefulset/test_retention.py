"""Promises of quintant.cluster.controllers.statefulset.retention."""

from __future__ import annotations

import pytest

from quintant.api.apps import (
    StatefulSet,
    StatefulSetPersistentVolumeClaimRetentionPolicy,
    StatefulSetSpec,
)
from quintant.api.core import PersistentVolumeClaim
from quintant.cluster.controllers.pods.views import PodState
from quintant.cluster.controllers.statefulset.retention import stale, with_retention_owner
from quintant.core.object import Object, ObjectMeta, OwnerReference
from quintant.core.owner import owned

POD = PodState(metadata=ObjectMeta(name="a-1", namespace="n", uid="pod"))
SETS = "set"


def sets(replicas: int, deleted: str = "Retain", scaled: str = "Retain") -> StatefulSet:
    policy = StatefulSetPersistentVolumeClaimRetentionPolicy(
        when_deleted=deleted, when_scaled=scaled
    )
    return StatefulSet(
        metadata=ObjectMeta(name="a", namespace="n", uid=SETS),
        spec=StatefulSetSpec(replicas=replicas, persistent_volume_claim_retention_policy=policy),
    )


def claim(*owners: Object) -> PersistentVolumeClaim:
    made = PersistentVolumeClaim(metadata=ObjectMeta(name="data-a-1", namespace="n"))
    for owner in owners:
        made = owned(made, by=owner)
    return made


def owners(it: PersistentVolumeClaim) -> list[str]:
    return [each.uid for each in it.metadata.owner_references]


@pytest.mark.parametrize(
    ("deleted", "scaled", "wanted", "surplus"),
    [
        ("Retain", "Retain", [], []),
        ("Delete", "Retain", [SETS], [SETS]),
        ("Retain", "Delete", [], ["pod"]),
        ("Delete", "Delete", [SETS], ["pod"]),
    ],
)
def test_claim_belongs_to_what_it_goes_with(
    deleted: str, scaled: str, wanted: list[str], surplus: list[str]
) -> None:
    enough, few = sets(2, deleted, scaled), sets(1, deleted, scaled)
    for before in (claim(), claim(enough), claim(POD)):
        assert owners(with_retention_owner(before, enough, 1, POD)) == wanted
        assert owners(with_retention_owner(before, few, 1, POD)) == surplus


def test_claim_of_another_controller_is_left_to_it() -> None:
    other = StatefulSet(metadata=ObjectMeta(name="other", namespace="n", uid="other"))
    assert owners(with_retention_owner(claim(other), sets(2, "Delete"), 1, POD)) == ["other"]


def test_claim_of_a_namesake_from_before_is_left_alone() -> None:
    former = PodState(metadata=ObjectMeta(name="a-1", namespace="n", uid="former"))
    assert stale(claim(former), POD)
    assert not stale(claim(POD), POD)
    assert owners(with_retention_owner(claim(former), sets(2, "Delete"), 1, POD)) == ["former"]


def test_owners_that_are_no_controllers_stay() -> None:
    reference = OwnerReference(api_version="v1", kind="ConfigMap", name="x", uid="x")
    held = PersistentVolumeClaim(
        metadata=ObjectMeta(name="data-a-1", namespace="n", owner_references=(reference,))
    )
    assert owners(with_retention_owner(held, sets(2, "Delete"), 1, POD)) == ["x", SETS]
