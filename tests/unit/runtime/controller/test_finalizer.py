from __future__ import annotations

import pytest

from quintant.core.object import ObjectMeta
from quintant.runtime.controller.finalizer import (
    RELEASE,
    ReconcileStep,
    add_patch,
    next_step,
    remove_patch,
)

OURS, THEIRS = "example.dev/ours", "example.dev/theirs"


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
    ("given", "name", "expected"),
    [
        (meta(), None, ReconcileStep.RECONCILE),
        (meta(THEIRS), None, ReconcileStep.RECONCILE),
        (meta(), OURS, ReconcileStep.ADD_FINALIZER),
        (meta(THEIRS), OURS, ReconcileStep.ADD_FINALIZER),
        (meta(THEIRS, OURS), OURS, ReconcileStep.RECONCILE),
        (meta(OURS, deleting=True), OURS, ReconcileStep.CLEAN_UP),
        (meta(OURS, deleting=True, released=True), OURS, ReconcileStep.REMOVE_FINALIZER),
        (meta(OURS, released=True), OURS, ReconcileStep.RECONCILE),
        (meta(THEIRS, deleting=True), OURS, ReconcileStep.IGNORE),
        (meta(THEIRS, deleting=True), None, ReconcileStep.IGNORE),
    ],
)
def test_metadata_alone_says_what_an_object_needs(
    given: ObjectMeta, name: str | None, expected: ReconcileStep
) -> None:
    assert next_step(given, name) is expected


def test_first_finalizer_creates_the_list_if_nothing_changed() -> None:
    assert add_patch(meta(), OURS) == [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "add", "path": "/metadata/finalizers", "value": [OURS]},
    ]


def test_further_finalizer_is_appended_to_those_of_others() -> None:
    assert add_patch(meta(THEIRS), OURS)[1] == {
        "op": "add",
        "path": "/metadata/finalizers/-",
        "value": OURS,
    }


def test_only_our_own_finalizer_is_removed_and_only_where_it_was_seen() -> None:
    assert remove_patch(meta(THEIRS, OURS), OURS) == [
        {"op": "test", "path": "/metadata/uid", "value": "uid-1"},
        {"op": "test", "path": "/metadata/finalizers/1", "value": OURS},
        {"op": "remove", "path": "/metadata/finalizers/1"},
    ]
