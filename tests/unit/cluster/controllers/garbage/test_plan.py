"""What becomes of an object follows from its owners alone."""

from __future__ import annotations

import pytest

from quintant.cluster.apiserver.meta.types import DeletionPropagation
from quintant.cluster.controllers.garbage.graph import FOREGROUND, ORPHAN
from quintant.cluster.controllers.garbage.plan import (
    Action,
    DeleteObject,
    KnownDependents,
    OwnerState,
    StripOwners,
    plan,
    unblocked,
    without,
)
from quintant.core.object import ObjectMeta, OwnerReference

A, B = (OwnerReference(kind="ConfigMap", name=uid, uid=uid) for uid in "ab")
SOLID, WAITING, ABSENT = OwnerState.SOLID, OwnerState.WAITING, OwnerState.ABSENT
BACKGROUND = DeleteObject(DeletionPropagation.BACKGROUND)


@pytest.mark.parametrize(
    ("a", "b", "action"),
    [
        (SOLID, SOLID, None),
        (SOLID, ABSENT, StripOwners((A,))),
        (WAITING, SOLID, StripOwners((B,))),
        (ABSENT, ABSENT, BACKGROUND),
        (ABSENT, WAITING, BACKGROUND),
    ],
)
def test_one_solid_owner_is_enough(a: OwnerState, b: OwnerState, action: Action) -> None:
    assert plan(ObjectMeta(owner_references=(A, B)), {"a": a, "b": b}) == action


def test_object_without_owners_stays() -> None:
    assert plan(ObjectMeta(), {}) is None


def test_owner_that_waits_passes_its_waiting_on() -> None:
    around = KnownDependents(dependents=True)
    meta = ObjectMeta(owner_references=(A,))
    assert plan(meta, {"a": WAITING}, around) == DeleteObject(DeletionPropagation.FOREGROUND)
    assert plan(meta, {"a": ABSENT}, around) == BACKGROUND


def test_circle_is_cut() -> None:
    around = KnownDependents(dependents=True, circular=True)
    action = plan(ObjectMeta(owner_references=(A,)), {"a": WAITING}, around)
    assert action == DeleteObject(DeletionPropagation.FOREGROUND, unblock=True)


@pytest.mark.parametrize(
    ("finalizer", "propagation"),
    [(FOREGROUND, DeletionPropagation.FOREGROUND), (ORPHAN, DeletionPropagation.ORPHAN)],
)
def test_finalizers_say_how_an_object_is_deleted(
    finalizer: str, propagation: DeletionPropagation
) -> None:
    meta = ObjectMeta(owner_references=(A,), finalizers=(finalizer,))
    assert plan(meta, {"a": ABSENT}) == DeleteObject(propagation)


def test_references_are_removed_and_unblocked_one_by_one() -> None:
    meta = ObjectMeta(owner_references=(A, B))
    assert without(meta, "a") == (B,)
    assert [ref.block_owner_deletion for ref in unblocked(meta)] == [False, False]
