"""A refused step is tried again where it was, and no step is written over a later one."""

from __future__ import annotations

import dataclasses

import pytest

from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotSource, VolumeSnapshotSpec
from quintant.core.errors import Conflict
from quintant.core.object import ObjectMeta, replace
from quintant.operators.cosmos.api.scheduled_volume_snapshot import SnapshotScheduleStatus
from quintant.operators.cosmos.scheduled_volume_snapshot.observed import SnapshotOutcome
from quintant.operators.cosmos.scheduled_volume_snapshot.plan.actions import (
    CheckPhase,
    CreateSnapshot,
    DeleteSnapshot,
    GiveBack,
    SnapshotStep,
    TakeAway,
)
from quintant.operators.cosmos.scheduled_volume_snapshot.plan.conclusion import (
    RETRY_SECONDS,
    check_live,
    conclude,
    is_same_copy,
    step_after,
)
from quintant.runtime.reconcile.result import Result
from unit.operators.cosmos.schedules import schedule, view

STEP = SnapshotStep(SnapshotScheduleStatus(phase="WaitingForPodDeletion"), take_away="hub-0")


def copy(claim: str) -> VolumeSnapshot:
    source = VolumeSnapshotSource(persistent_volume_claim_name=claim)
    return VolumeSnapshot(metadata=ObjectMeta(name="c"), spec=VolumeSnapshotSpec(source=source))


def test_a_step_checks_the_phase_before_it_does_what_cannot_be_done_twice() -> None:
    assert list(STEP.actions) == [CheckPhase(), TakeAway("hub-0")]
    made = SnapshotStep(STEP.status, give_back=True, create=copy("a"))
    assert list(made.actions) == [CheckPhase(), GiveBack(), CreateSnapshot(copy("a"))]
    old = SnapshotStep(STEP.status, delete=(copy("a"), copy("b")))
    assert list(old.actions) == [DeleteSnapshot(copy("a")), DeleteSnapshot(copy("b"))]


def test_a_step_that_was_done_leads_where_it_said() -> None:
    assert step_after(view("DeletingPod"), STEP, SnapshotOutcome()) is STEP


def test_a_candidate_that_was_lost_is_looked_for_again() -> None:
    done = step_after(view("DeletingPod"), STEP, SnapshotOutcome(lost=True))
    assert (done.status.phase, done.take_away) == ("FindingCandidate", "")


def test_a_refused_step_is_tried_again_where_it_was() -> None:
    refusal = ("DeletePodError", "forbidden")
    done = step_after(view("DeletingPod"), STEP, SnapshotOutcome(refusal=refusal))
    assert (done.status.phase, done.after, done.problem) == ("DeletingPod", RETRY_SECONDS, refusal)


def test_old_copies_that_stay_hold_nothing_up() -> None:
    refusal = ("DeleteOldSnapshotsError", "forbidden")
    done = step_after(view("DeletingPod"), STEP, SnapshotOutcome(refusal=refusal))
    assert (done.status.phase, done.problem) == ("WaitingForPodDeletion", refusal)


def test_what_is_wrong_is_a_condition_and_reported_when_it_begins() -> None:
    seen = view("FindingCandidate")
    done = SnapshotStep(seen.status, after=5.0, problem=("FindCandidateError", "none"))
    conclusion = conclude(seen, done)
    assert conclusion.status is not None
    assert conclusion.status.status == "none"
    assert [each.reason for each in conclusion.events] == ["FindCandidateError"]
    assert conclusion.again == Result(after=5.0)
    known = dataclasses.replace(seen, schedule=replace(seen.schedule, status=conclusion.status))
    assert conclude(known, done).events == ()


def test_a_schedule_that_went_on_is_not_written_over() -> None:
    change = conclude(view("DeletingPod"), STEP).change
    assert change is not None
    assert change(SnapshotScheduleStatus(phase="DeletingPod")).phase == "WaitingForPodDeletion"
    with pytest.raises(Conflict):
        change(SnapshotScheduleStatus(phase="RestoringPod"))


def test_a_schedule_that_is_gone_or_another_is_not_acted_for() -> None:
    it = schedule("DeletingPod")
    check_live(it, it)
    other = replace(it, metadata=replace(it.metadata, uid="another"))
    for live in (None, other, schedule("RestoringPod")):
        with pytest.raises(Conflict):
            check_live(it, live)


def test_a_copy_of_the_same_volume_is_ours() -> None:
    assert is_same_copy(copy("a"), copy("a"))
    assert is_same_copy(None, copy("a"))
    assert not is_same_copy(copy("b"), copy("a"))
