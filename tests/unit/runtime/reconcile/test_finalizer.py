"""What metadata says that an object needs, and the patches that touch our own names alone."""

from __future__ import annotations

import pytest

from quintant.core.object import ObjectMeta
from quintant.runtime.reconcile.finalizer import (
    RELEASE,
    ReconcileStep,
    next_step,
    remove_patch,
    set_patch,
)

OURS, OLD, THEIRS = "example.dev/ours", "old-name", "example.dev/theirs"
NAMES = (OURS, OLD)


def meta(*finalizers: str, deleting: bool = False, released: bool = False) -> ObjectMeta:
    return ObjectMeta(
        name="a",
        uid="uid-1",
        resource_version="7",
        finalizers=finalizers,
        deletion_timestamp="2026-01-01T00:00:00Z" if deleting else None,
        annotations={RELEASE: "true"} if released else {},
    )


@pytest.mark.parametrize(
    ("given", "names", "wanted", "expected"),
    [
        (meta(), (), True, ReconcileStep.RECONCILE),
        (meta(THEIRS), (), True, ReconcileStep.RECONCILE),
        (meta(), NAMES, True, ReconcileStep.ADD_FINALIZER),
        (meta(THEIRS), NAMES, True, ReconcileStep.ADD_FINALIZER),
        (meta(OLD), NAMES, True, ReconcileStep.ADD_FINALIZER),
        (meta(OLD, OURS), NAMES, True, ReconcileStep.ADD_FINALIZER),
        (meta(THEIRS, OURS), NAMES, True, ReconcileStep.RECONCILE),
        (meta(THEIRS), NAMES, False, ReconcileStep.RECONCILE),
        (meta(OURS), NAMES, False, ReconcileStep.DROP_FINALIZER),
        (meta(OLD), NAMES, False, ReconcileStep.DROP_FINALIZER),
        (meta(OURS, released=True), NAMES, True, ReconcileStep.RECONCILE),
        (meta(OURS, deleting=True), NAMES, True, ReconcileStep.CLEAN_UP),
        (meta(OURS, deleting=True), NAMES, False, ReconcileStep.CLEAN_UP),
        (meta(THEIRS, OLD, deleting=True), NAMES, True, ReconcileStep.CLEAN_UP),
        (meta(OURS, deleting=True, released=True), NAMES, True, ReconcileStep.RELEASE),
        (meta(THEIRS, deleting=True), NAMES, True, ReconcileStep.IGNORE),
        (meta(THEIRS, deleting=True, released=True), (), True, ReconcileStep.IGNORE),
    ],
)
def test_metadata_alone_says_what_an_object_needs(
    given: ObjectMeta, names: tuple[str, ...], wanted: bool, expected: ReconcileStep
) -> None:
    assert next_step(given, names, wanted) is expected


@pytest.mark.parametrize(
    ("given", "wanted", "expected"),
    [
        (meta(), True, [OURS]),
        (meta(THEIRS), True, [THEIRS, OURS]),
        (meta(OLD, THEIRS), True, [THEIRS, OURS]),
        (meta(OURS, THEIRS, OLD), False, [THEIRS]),
    ],
)
def test_a_living_object_gets_what_it_needs_in_one_write_if_nothing_changed(
    given: ObjectMeta, wanted: bool, expected: list[str]
) -> None:
    assert set_patch(given, NAMES, wanted) == [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "add", "path": "/metadata/finalizers", "value": expected},
    ]


def test_only_our_own_names_are_removed_together_and_only_where_they_were_seen() -> None:
    assert remove_patch(meta(OLD, THEIRS, OURS), *NAMES) == [
        {"op": "test", "path": "/metadata/uid", "value": "uid-1"},
        {"op": "test", "path": "/metadata/finalizers/0", "value": OLD},
        {"op": "test", "path": "/metadata/finalizers/2", "value": OURS},
        {"op": "remove", "path": "/metadata/finalizers/2"},
        {"op": "remove", "path": "/metadata/finalizers/0"},
    ]
