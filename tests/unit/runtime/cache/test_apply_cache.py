"""Promises of quintant.runtime.cache.apply_cache."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quintant.core.object import Object, OwnerReference, replace
from quintant.runtime.cache import apply_cache as module
from quintant.runtime.cache.apply_cache import STATUS, ApplyCache, apply_body, status_body
from unit.runtime.kinds import (
    Chart,
    Harbour,
    HarbourStatus,
    Ship,
    ShipSpec,
    ShipStatus,
    chart,
    meta,
    ship,
)

BODY = b'{"spec":{}}'


def after(stored: Object, body: bytes = BODY, sub: str = "") -> ApplyCache:
    applied = ApplyCache()
    applied.record(stored, body, sub)
    return applied


def test_the_same_body_on_an_unchanged_object_is_not_applied_again() -> None:
    applied = after(chart("a", "5"))

    assert applied.is_unchanged(chart("a", "5"), BODY)
    assert not applied.is_unchanged(chart("a", "5"), BODY + b" ")
    assert not applied.is_unchanged(chart("b", "5"), BODY)
    assert not applied.is_unchanged(ship("a", "5"), BODY)


def test_what_was_never_applied_is_applied() -> None:
    assert not ApplyCache().is_unchanged(chart("a", "5"), BODY)


def test_a_namesake_is_another_object() -> None:
    assert not after(chart("a", "5")).is_unchanged(chart("a", "5", uid="new"), BODY)


def test_a_change_of_an_object_without_generation_is_answered() -> None:
    assert not after(chart("a", "5")).is_unchanged(chart("a", "6"), BODY)


def test_a_new_status_of_an_object_with_generation_is_not() -> None:
    stored = ship("a", "5", generation=2, labels={"x": "y"})

    assert after(stored).is_unchanged(
        replace(ship("a", "9", generation=2, labels={"x": "y"}), status=ShipStatus(afloat=True)),
        BODY,
    )


@pytest.mark.parametrize(
    "drift",
    [
        {"generation": 3},
        {"labels": {"x": "other"}},
        {"labels": {}},
        {"annotations": {"a": "b"}},
        {"finalizers": ("f",)},
        {"owner_references": (OwnerReference(uid="u"),)},
    ],
)
def test_a_drift_of_anything_but_the_status_is_answered(drift: dict[str, Any]) -> None:
    applied = after(ship("a", "5", generation=2, labels={"x": "y"}))
    drifted = ship("a", "9", **{"generation": 2, "labels": {"x": "y"}, **drift})

    assert not applied.is_unchanged(drifted, BODY)


def test_a_status_is_remembered_apart_from_its_object() -> None:
    stored = replace(ship("a", "5"), status=ShipStatus(port="x"))
    applied = after(stored, sub=STATUS)

    assert applied.is_unchanged(stored, BODY, STATUS)
    assert not applied.is_unchanged(stored, BODY)


def test_a_status_that_nobody_changed_since_is_not_applied_again() -> None:
    stored = replace(ship("a", "5"), status=ShipStatus(port="x"))
    applied = after(stored, sub=STATUS)

    labelled = replace(ship("a", "9", labels={"x": "y"}), status=ShipStatus(port="x"))
    assert applied.is_unchanged(labelled, BODY, STATUS)
    drifted = replace(labelled, status=ShipStatus(port="y"))
    assert not applied.is_unchanged(drifted, BODY, STATUS)


def test_what_is_deleted_is_forgotten() -> None:
    stored = ship("a", "5")
    applied = after(stored)
    applied.record(stored, BODY, STATUS)
    assert len(applied) == 2

    applied.forget(stored)
    applied.forget(ship("b"))

    assert len(applied) == 0


def test_the_memory_is_bounded() -> None:
    applied = ApplyCache()
    for number in range(module.LIMIT + 1):
        applied.record(chart(str(number), "5"), BODY)

    assert len(applied) == 1


def test_an_apply_holds_nothing_that_the_server_fills_in() -> None:
    owner = OwnerReference(uid="o")
    full = meta(
        "a", "7", uid="u", generation=3, creation_timestamp="t", deletion_timestamp="t",
        deletion_grace_period_seconds=3, generate_name="a-", labels={"x": "y"},
        annotations={"k": "v"}, finalizers=("f",), owner_references=(owner,),
    )  # fmt: skip
    obj = Ship(metadata=full, spec=ShipSpec(rig="ketch"), status=ShipStatus(afloat=True))

    assert msgspec.json.decode(apply_body(obj)) == {
        "apiVersion": "sea.quintant.dev/v1",
        "kind": "Ship",
        "metadata": {
            "name": "a",
            "namespace": "sea",
            "uid": "u",
            "labels": {"x": "y"},
            "annotations": {"k": "v"},
            "finalizers": ["f"],
            "ownerReferences": [{"uid": "o"}],
        },
        "spec": {"rig": "ketch"},
    }


@pytest.mark.parametrize(
    "obj",
    [
        Harbour(metadata=meta()),
        Harbour(metadata=meta(), status=HarbourStatus(berths=3)),
        Ship(metadata=meta(), spec=ShipSpec()),
        Ship(metadata=meta(), spec=ShipSpec(), status=ShipStatus()),
        Chart(metadata=meta()),
    ],
)
def test_no_kind_of_status_is_ever_applied_with_its_object(obj: Object) -> None:
    assert b"status" not in apply_body(obj)


@pytest.mark.parametrize("status", [ShipStatus(port="x"), {"port": "x"}])
def test_a_status_goes_alone(status: Any) -> None:
    obj = ship("a", "7", generation=3, labels={"x": "y"})

    assert msgspec.json.decode(status_body(type(obj), obj.metadata, status)) == {
        "apiVersion": "sea.quintant.dev/v1",
        "kind": "Ship",
        "metadata": {"name": "a", "namespace": "sea", "uid": "a"},
        "status": {"port": "x"},
    }
