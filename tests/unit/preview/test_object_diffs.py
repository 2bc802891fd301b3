"""Two states of a cluster, compared object by object."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.preview.cluster_copy import ObjectId
from quintant.preview.object_diffs import (
    HIDDEN,
    HIDDEN_CHANGED,
    ObjectAction,
    collect_garbage,
    differing,
    new_conditions,
    object_diffs,
)

A = ObjectId("", "configmaps", "shop", "a")
B = ObjectId("", "configmaps", "shop", "b")
SECRET = ObjectId("", "secrets", "shop", "s")


def obj(text: str = "x", uid: str = "1", **metadata: Any) -> dict[str, Any]:
    return {"kind": "ConfigMap", "metadata": {"uid": uid, **metadata}, "data": {"text": text}}


def owned(uid: str, *owners: str) -> dict[str, Any]:
    return obj(uid=uid, ownerReferences=[{"uid": owner} for owner in owners])


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (obj("x"), obj("x"), None),
        (None, None, None),
        (obj("x"), obj("y"), ObjectAction.UPDATE),
        (None, obj("x"), ObjectAction.CREATE),
        (obj("x"), None, ObjectAction.DELETE),
        (obj("x"), obj("x", deletionTimestamp="now"), ObjectAction.DELETE),
        (obj("x", uid="1"), obj("x", uid="2"), ObjectAction.REPLACE),
        (obj("x", resourceVersion="1"), obj("x", resourceVersion="2"), None),
        (obj("x", generation=1), obj("x", generation=2, managedFields=[{}]), None),
        (obj(deletionTimestamp="then"), obj(deletionTimestamp="then"), None),
    ],
)
def test_what_became_of_an_object(before: Any, after: Any, change: ObjectAction | None) -> None:
    states = [{A: each} if each is not None else {} for each in (before, after)]
    assert [each.action for each in object_diffs(*states)] == ([change] if change else [])


def test_the_worst_comes_first() -> None:
    found = object_diffs({A: obj("x"), B: obj("x")}, {A: obj("y")})
    assert [(each.action, each.id) for each in found] == [
        (ObjectAction.DELETE, B),
        (ObjectAction.UPDATE, A),
    ]


def test_a_new_object_is_shown_without_what_only_a_server_gives_it() -> None:
    (found,) = object_diffs({}, {A: obj(uid="7", creationTimestamp="now")})
    assert found.after is not None
    assert found.after["metadata"] == {}


def test_of_a_secret_only_names_of_values_are_shown_and_which_are_others() -> None:
    note = {"kubectl.kubernetes.io/last-applied-configuration": "token"}
    before = {"metadata": {"uid": "1", "annotations": note}, "data": {"k": "old", "same": "s"}}
    after = {"metadata": {"uid": "1"}, "data": {"k": "token", "same": "s"}}
    (found,) = object_diffs({SECRET: before}, {SECRET: after})
    assert found.before is not None
    assert found.before["data"] == {"k": HIDDEN, "same": HIDDEN}
    assert found.after is not None
    assert found.after["data"] == {"k": HIDDEN_CHANGED, "same": HIDDEN}
    assert "token" not in str(found)


def test_what_has_no_owner_left_is_collected_and_what_hangs_on_it_too() -> None:
    before = {A: obj(uid="a")}
    child, grandchild, shared = (ObjectId("", "pods", "shop", name) for name in "cgs")
    after = {child: owned("c", "a"), grandchild: owned("g", "c"), shared: owned("s", "a", "else")}
    assert set(collect_garbage(before, after)) == {shared}


def test_two_versions_differ_where_they_leave_an_object_otherwise() -> None:
    before = {A: obj("x"), B: obj("x")}
    old = object_diffs(before, {A: obj("y"), B: obj("x")})
    new = object_diffs(before, {A: obj("y"), B: obj("z")})
    assert [(each.action, each.id) for each in differing(old, new)] == [(ObjectAction.UPDATE, B)]
    gone = object_diffs(before, {A: obj("y")})
    assert [(each.action, each.id) for each in differing(old, gone)] == [(ObjectAction.DELETE, B)]
    assert differing(gone, gone) == []


def test_conditions_that_come_up_are_found() -> None:
    def with_condition(status: str) -> dict[str, Any]:
        return {**obj(), "status": {"conditions": [{"type": "Degraded", "status": status}]}}

    changes = object_diffs({A: with_condition("False")}, {A: with_condition("True")})
    assert new_conditions(changes) == {("Degraded", "True")}


def test_a_status_that_makes_no_sense_has_no_conditions() -> None:
    odd: list[Any] = [[], {"conditions": 5}, {"conditions": [5]}]
    for each in ({**obj(), "status": status} for status in odd):
        assert new_conditions(object_diffs({A: obj()}, {A: each})) == set()


def test_two_versions_that_write_other_values_of_a_secret_differ_and_show_none() -> None:
    live, one, other = ({SECRET: obj(text)} for text in ("live", "hunter", "hunted"))
    for before in (live, {}):
        old, new = object_diffs(before, one), object_diffs(before, other)
        assert differing(old, old) == []
        (found,) = differing(old, new)
        assert found.action is ObjectAction.UPDATE
        assert (found.before or {})["data"] == {"text": HIDDEN}
        assert (found.after or {})["data"] == {"text": HIDDEN_CHANGED}
        assert "hunte" not in repr(found)
