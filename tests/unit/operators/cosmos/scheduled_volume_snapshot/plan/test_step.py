"""The states of a schedule: each has one step, and from each the pod comes back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest

from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotError, VolumeSnapshotStatus
from quintant.core.clock import timestamp
from quintant.core.object import ObjectMeta, replace
from quintant.operators.cosmos.api.scheduled_volume_snapshot import (
    LastSnapshot,
    SnapshotPhase,
)
from quintant.operators.cosmos.scheduled_volume_snapshot.observed import SnapshotView
from quintant.operators.cosmos.scheduled_volume_snapshot.plan.actions import SnapshotStep
from quintant.operators.cosmos.scheduled_volume_snapshot.plan.step import (
    next_time,
    plan,
)
from unit.operators.cosmos.observations import NOW
from unit.operators.cosmos.schedules import NAME, TARGET, schedule, view


@pytest.mark.parametrize(
    ("cron", "after", "wait"),
    [("0 * * * *", 0, 60), ("0 * * * *", 30, 30), ("0 * * * *", 60, 0), ("0 0 * * *", 60, 1380),
     ("0 */3 * * *", 0, 180)],
)  # fmt: skip
def test_a_schedule_counts_from_the_last_copy(cron: str, after: int, wait: int) -> None:
    reference = datetime(2022, 12, 1, tzinfo=UTC)
    due = next_time(schedule(schedule=cron), reference)
    assert due is not None
    left = due - reference - timedelta(minutes=after)
    assert max(left, timedelta(0)) == timedelta(minutes=wait)


def phases(seen: SnapshotView) -> tuple[str | None, SnapshotStep]:
    done = plan(seen)
    return done.status.phase, done


def test_time_that_has_not_come_is_waited_for() -> None:
    last = LastSnapshot(name="x", started_at=timestamp(NOW))
    phase, done = phases(view("WaitingForNext", status={"last_snapshot": last}))
    assert (phase, done.after) == ("WaitingForNext", 3600)
    assert done.status.next_schedule_time == "2026-01-02T01:00:00Z"


def test_missed_times_are_one_run() -> None:
    assert phases(view("WaitingForNext"))[0] == "FindingCandidate"
    assert phases(view(None))[0] == "FindingCandidate"


@pytest.mark.parametrize("text", ["often", "61 * * * *", "0 0 30 2 *", "@never"])
def test_a_bad_schedule_is_told_and_not_looped_over(text: str) -> None:
    phase, done = phases(view("WaitingForNext", schedule=text))
    assert (phase, done.after) == ("WaitingForNext", None)
    assert done.problem[0] == "FindNextSnapshotTimeError"


@pytest.mark.parametrize("phase", get_args(SnapshotPhase))
def test_a_number_beyond_its_limit_is_told_and_the_pod_comes_back(phase: SnapshotPhase) -> None:
    after, done = phases(view(phase, snapshot_timeout_seconds=2**62))
    assert (after, done.problem[0], done.create) == ("WaitingForNext", "SpecInvalid", None)
    assert not done.take_away
    assert done.status.candidate is None


def test_a_candidate_is_in_sync_and_others_remain() -> None:
    phase, done = phases(view("FindingCandidate"))
    assert phase == "DeletingPod"
    assert done.status.candidate is not None
    assert (done.status.candidate.pod_name, done.status.candidate.pvc_name) == (
        "hub-0",
        "pvc-hub-0",
    )


@pytest.mark.parametrize(
    ("states", "given", "reason"),
    [
        (None, {}, "FullNodeNotFound"),
        ("+~~", {}, "FindCandidateError"),
        ("+++", {"min_available": 4}, "FindCandidateError"),
        ("~+++", {}, "FindCandidateError"),
        ("+++", {"away": ["hub-1"], "min_available": 1}, "FindCandidateError"),
        ("+++", {"ordinal": 7}, "FindCandidateError"),
    ],
)
def test_without_a_candidate_it_waits(
    states: str | None, given: dict[str, Any], reason: str
) -> None:
    phase, done = phases(view("FindingCandidate", states, **given))
    assert (phase, done.problem[0]) == ("FindingCandidate", reason)
    assert done.take_away == ""


def test_an_ordinal_may_be_asked_for() -> None:
    done = plan(view("FindingCandidate", ordinal=2))
    assert done.status.candidate is not None
    assert done.status.candidate.pod_name == "hub-2"


def test_a_running_pod_needs_no_others() -> None:
    phase, done = phases(view("FindingCandidate", "+  ", delete_pod=False))
    assert phase == "CreatingSnapshot"
    assert done.status.last_snapshot is not None
    assert done.status.last_snapshot.name == NAME


@pytest.mark.parametrize("delete_pod", [True, False])
@pytest.mark.parametrize("states", ["~~~", "!!!", "???", "#  "])
def test_a_node_that_is_not_in_sync_is_never_copied(states: str, *, delete_pod: bool) -> None:
    phase, done = phases(view("FindingCandidate", states, delete_pod=delete_pod, min_available=1))
    assert (phase, done.problem[0]) == ("FindingCandidate", "FindCandidateError")


@pytest.mark.parametrize("states", ["+++", None])
def test_a_volume_that_is_no_instances_is_never_copied(states: str | None) -> None:
    stranger = BEGUN | {"candidate": replace(TARGET, pvc_name="pvc-other-0")}
    done = plan(view("CreatingSnapshot", states, status=stranger))
    assert (done.create, done.status.phase) == (None, "RestoringPod")


def test_the_copy_of_a_node_that_was_deleted_meanwhile_is_made() -> None:
    assert plan(view("CreatingSnapshot", None, status=BEGUN)).create is not None


def test_a_pod_is_taken_away_once() -> None:
    status = {"candidate": TARGET}
    phase, done = phases(view("DeletingPod", status=status))
    assert (phase, done.take_away) == ("WaitingForPodDeletion", "hub-0")
    assert plan(view("DeletingPod", status=status, held=True)).take_away == ""


def test_a_copy_begins_only_when_the_pod_is_gone_and_has_its_name_before() -> None:
    status = {"candidate": TARGET}
    assert (
        phases(view("WaitingForPodDeletion", status=status, held=True))[0]
        == "WaitingForPodDeletion"
    )
    phase, done = phases(view("WaitingForPodDeletion", status=status, held=True, pod_gone=True))
    assert phase == "CreatingSnapshot"
    assert done.create is None
    assert done.status.last_snapshot is not None
    assert done.status.last_snapshot.name == NAME
    assert phases(view("WaitingForPodDeletion", status=status))[0] == "RestoringPod"


BEGUN = {"candidate": TARGET, "last_snapshot": LastSnapshot(name=NAME, started_at=timestamp(NOW))}


def test_a_copy_is_labelled_and_belongs_to_nobody() -> None:
    labelled = replace(TARGET, pod_labels={"app.kubernetes.io/instance": "hub-0", "a": "b"})
    done = plan(view("CreatingSnapshot", status=BEGUN | {"candidate": labelled}, held=True))
    assert done.status.phase == "WaitingForSnapshotCreation"
    assert done.create is not None
    assert done.create.metadata.name == NAME
    assert done.create.metadata.owner_references == ()
    assert done.create.metadata.labels == {
        "a": "b",
        "app.kubernetes.io/instance": "hub-0",
        "app.kubernetes.io/created-by": "cosmos-operator",
        "app.kubernetes.io/component": "ScheduledVolumeSnapshot",
        "cosmos.strange.love/source": "nightly",
    }
    assert done.create.spec.source.persistent_volume_claim_name == "pvc-hub-0"


def test_no_copy_is_made_of_a_volume_without_a_name() -> None:
    nameless = BEGUN | {"candidate": replace(TARGET, pvc_name="")}
    phase, done = phases(view("CreatingSnapshot", status=nameless, held=True))
    assert (phase, done.create) == ("RestoringPod", None)


def copy(**status: Any) -> VolumeSnapshot:
    return VolumeSnapshot(metadata=ObjectMeta(name=NAME), status=VolumeSnapshotStatus(**status))


def test_a_second_copy_within_a_minute_has_a_name_of_its_own() -> None:
    seen = view(
        "WaitingForPodDeletion", status={"candidate": TARGET}, held=True, pod_gone=True,
        snapshots=(copy(ready_to_use=True),),
    )  # fmt: skip
    last = plan(seen).status.last_snapshot
    assert last is not None
    assert last.name == f"{NAME}00"


def test_the_pod_comes_back_if_a_copy_is_refused_for_too_long() -> None:
    begun = LastSnapshot(name=NAME, started_at=timestamp(NOW - timedelta(minutes=31)))
    status = BEGUN | {"last_snapshot": begun}
    phase, done = phases(view("CreatingSnapshot", status=status, held=True))
    assert (phase, done.create, done.result) == ("RestoringPod", None, "failure")


def awaited(*snapshots: VolumeSnapshot, begun: datetime = NOW, **given: Any) -> SnapshotStep:
    last = LastSnapshot(name=NAME, started_at=timestamp(begun))
    status = BEGUN | {"last_snapshot": last}
    return plan(
        view("WaitingForSnapshotCreation", status=status, held=True, snapshots=snapshots, **given)
    )


def test_a_copy_is_waited_for() -> None:
    done = awaited(copy(ready_to_use=False))
    assert (done.status.phase, done.after) == ("WaitingForSnapshotCreation", 1800)
    assert awaited().status.phase == "WaitingForSnapshotCreation"


def test_whatever_becomes_of_a_copy_the_pod_comes_back() -> None:
    good = awaited(copy(ready_to_use=True))
    assert (good.status.phase, good.result) == ("RestoringPod", "success")
    bad = awaited(copy(error=VolumeSnapshotError(message="no space")))
    assert (bad.status.phase, bad.result, bad.status.failures) == ("RestoringPod", "failure", 1)
    assert "no space" in bad.problem[1]
    late = awaited(copy(ready_to_use=False), begun=NOW - timedelta(seconds=1801))
    assert (late.status.phase, late.result) == ("RestoringPod", "failure")
    soon = awaited(begun=NOW - timedelta(seconds=11), snapshot_timeout_seconds=10)
    assert soon.status.phase == "RestoringPod"


def test_a_restored_pod_ends_the_run() -> None:
    phase, done = phases(view("RestoringPod", status=BEGUN, held=True))
    assert (phase, done.give_back, done.status.candidate) == ("WaitingForNext", True, None)


@pytest.mark.parametrize("phase", get_args(SnapshotPhase))
def test_suspending_gives_the_pod_back_from_every_state(phase: SnapshotPhase) -> None:
    done = plan(view(phase, status=BEGUN, held=phase != "Suspended", suspend=True))
    assert done.status.phase == "Suspended"
    assert done.give_back is (phase != "Suspended")


@pytest.mark.parametrize("phase", get_args(SnapshotPhase))
def test_without_the_kind_the_pod_comes_back_and_it_goes_on_later(phase: SnapshotPhase) -> None:
    done = plan(view(phase, status=BEGUN, held=True, served=False))
    assert (done.status.phase, done.give_back) == ("MissingCRDs", True)
    assert done.problem[0] == "MissingCRDs"
    assert done.after is not None
    assert plan(view("MissingCRDs")).status.phase == "FindingCandidate"


def test_copies_of_volumes_in_use_are_warned_about() -> None:
    last = LastSnapshot(name="x", started_at=timestamp(NOW))
    done = plan(view("WaitingForNext", delete_pod=False, status={"last_snapshot": last}))
    assert done.problem[0] == "SnapshotWhileRunning"
