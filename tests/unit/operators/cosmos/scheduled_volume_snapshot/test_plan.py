"""The states of a schedule: each has one step, and from each the pod comes back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest

from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotError, VolumeSnapshotStatus
from quintant.core.clock import timestamp
from quintant.core.object import ObjectMeta, replace
from quintant.operators.cosmos.api.status import FullNodeStatus, SnapshotCandidate
from quintant.operators.cosmos.scheduled_volume_snapshot.api import (
    FullNodeRef,
    LastSnapshot,
    ScheduledVolumeSnapshot,
    SnapshotPhase,
    SnapshotScheduleSpec,
    SnapshotScheduleStatus,
    SnapshotTarget,
)
from quintant.operators.cosmos.scheduled_volume_snapshot.observe import SnapshotView
from quintant.operators.cosmos.scheduled_volume_snapshot.plan import (
    SnapshotStep,
    next_time,
    step,
    surplus,
)
from unit.operators.cosmos.observations import NOW, observed

NAME = "nightly-202601020000"
TARGET = SnapshotTarget(pod_name="hub-0", pvc_name="pvc-hub-0")


def schedule(phase: SnapshotPhase | None = None, **given: Any) -> ScheduledVolumeSnapshot:
    status = given.pop("status", {})
    ref = FullNodeRef(name="hub", ordinal=given.pop("ordinal", None))
    spec = {"schedule": "0 * * * *", "volume_snapshot_class_name": "c", "delete_pod": True, **given}
    told = SnapshotScheduleStatus(
        phase=phase, **{"created_at": timestamp(NOW - timedelta(hours=2)), **status}
    )
    return ScheduledVolumeSnapshot(
        metadata=ObjectMeta(name="nightly", namespace="test"),
        spec=SnapshotScheduleSpec(full_node_ref=ref, **spec),
        status=told,
    )


def view(
    phase: SnapshotPhase | None = None, states: str | None = "+++", **given: Any
) -> SnapshotView:
    found = {key: given.pop(key) for key in ("snapshots", "pod_gone", "served") if key in given}
    held, away = given.pop("held", False), given.pop("away", ())
    it = schedule(phase, **given)
    nodes = None if states is None else observed(states, away=frozenset(away))
    if nodes is not None and held:
        entry = {it.candidate_key: SnapshotCandidate(pod_candidate="hub-0")}
        status = FullNodeStatus(scheduled_snapshot_status=entry)
        nodes = type(nodes)(crd=replace(nodes.crd, status=status), pods=nodes.pods, now=NOW)
    return SnapshotView(it, full_node=nodes, now=NOW, **{"served": True, **found})


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
    done = step(seen)
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
    done = step(view("FindingCandidate", ordinal=2))
    assert done.status.candidate is not None
    assert done.status.candidate.pod_name == "hub-2"


def test_a_running_pod_needs_no_others() -> None:
    phase, done = phases(view("FindingCandidate", "~  ", delete_pod=False))
    assert phase == "CreatingSnapshot"
    assert done.status.last_snapshot is not None
    assert done.status.last_snapshot.name == NAME


def test_a_pod_is_taken_away_once() -> None:
    status = {"candidate": TARGET}
    phase, done = phases(view("DeletingPod", status=status))
    assert (phase, done.take_away) == ("WaitingForPodDeletion", "hub-0")
    assert step(view("DeletingPod", status=status, held=True)).take_away == ""


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
    done = step(view("CreatingSnapshot", status=BEGUN | {"candidate": labelled}, held=True))
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
    last = step(seen).status.last_snapshot
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
    return step(
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
    done = step(view(phase, status=BEGUN, held=phase != "Suspended", suspend=True))
    assert done.status.phase == "Suspended"
    assert done.give_back is (phase != "Suspended")


@pytest.mark.parametrize("phase", get_args(SnapshotPhase))
def test_without_the_kind_the_pod_comes_back_and_it_goes_on_later(phase: SnapshotPhase) -> None:
    done = step(view(phase, status=BEGUN, held=True, served=False))
    assert (done.status.phase, done.give_back) == ("MissingCRDs", True)
    assert done.problem[0] == "MissingCRDs"
    assert done.after is not None
    assert step(view("MissingCRDs")).status.phase == "FindingCandidate"


def test_the_newest_copies_are_kept() -> None:
    made = [
        VolumeSnapshot(
            metadata=ObjectMeta(name=f"s{day}"),
            status=VolumeSnapshotStatus(creation_time=f"2026-01-0{day}T00:00:00Z"),
        )
        for day in (1, 3, 2, 5, 4)
    ]
    unfinished = VolumeSnapshot(metadata=ObjectMeta(name="new"))
    old = surplus(view("WaitingForNext", snapshots=(*made, unfinished)))
    assert [each.metadata.name for each in old] == ["s2", "s1"]


def test_copies_of_volumes_in_use_are_warned_about() -> None:
    last = LastSnapshot(name="x", started_at=timestamp(NOW))
    done = step(view("WaitingForNext", delete_pod=False, status={"last_snapshot": last}))
    assert done.problem[0] == "SnapshotWhileRunning"
