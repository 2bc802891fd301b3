"""An instance begins anew from a copy: one at a time, never the last, never against the user."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from quintant.api.quantity import Quantity
from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotStatus
from quintant.core.object import ObjectMeta
from quintant.operators.cosmos.api.full_node import CrashLoopRebuild
from quintant.operators.cosmos.self_healing.observed import Restarts
from quintant.operators.cosmos.self_healing.plan.rebuild import (
    RebuildPlan,
    is_crashing,
    noted,
    plan_rebuild,
)
from unit.operators.cosmos.observations import NOW, observed

WANTED = CrashLoopRebuild(restarts=3, window_seconds=600)
CRASHING: Restarts = ((NOW - timedelta(minutes=5), 1), (NOW, 4))
COPY = VolumeSnapshot(
    metadata=ObjectMeta(name="copy", labels={"a": "b"}),
    status=VolumeSnapshotStatus(ready_to_use=True, restore_size=Quantity("1Gi"), creation_time="1"),
)
AUTO = {"claim": {"autoDataSource": {"volumeSnapshotSelector": {"a": "b"}}}}


def planned(states: str, crashing: str, **given: Any) -> RebuildPlan:
    copies = given.pop("copies", (COPY,))
    seen = replace(observed(states, **{**AUTO, **given}), snapshots=copies)
    known = {f"uid-{at}": CRASHING for at, mark in enumerate(crashing) if mark == "c"}
    return plan_rebuild(seen, WANTED, known)


def test_a_program_that_is_restarted_often_within_the_window_is_crashing() -> None:
    known: Restarts = ()
    for minute, count in ((0, 0), (5, 1), (10, 2), (14, 3)):
        known = noted(known, count, WANTED, NOW + timedelta(minutes=minute))
    assert is_crashing(known, WANTED)
    later = noted(known, 3, WANTED, NOW + timedelta(minutes=40))
    assert not is_crashing(later, WANTED)


def test_one_begins_anew() -> None:
    found = planned("!!+", "cc.")
    assert found.node is not None
    assert found.node.name == "hub-0"
    assert found.uid == "uid-0"
    assert found.event.reason == "CrashLoopRebuild"
    assert "hub-0" in found.event.note


def test_never_while_no_other_is_in_sync() -> None:
    assert planned("!~~", "c..") == RebuildPlan(refused="hub-0: no other node is in sync")


def test_never_under_retain_and_never_without_a_copy() -> None:
    kept = planned("!+", "c.", volumeRetentionPolicy="Retain")
    assert "Retain" in kept.refused
    assert "VolumeSnapshot" in planned("!+", "c.", copies=()).refused
    assert "VolumeSnapshot" in planned("!+", "c.", claim={}).refused


def test_never_two() -> None:
    status = {"selfHealing": {"rebuiltAt": {"hub-1": "2026-01-01T00:00:00Z"}}}
    assert planned("!~+", "c..", status=status).refused == "hub-0: hub-1 is on its way back"
    assert planned("!++", "c..", status=status).node is not None


def test_a_node_that_is_available_is_left_alone() -> None:
    assert planned("+++", "ccc") == RebuildPlan()
