"""A pod is taken away by an entry that its schedule alone adds and removes."""

from __future__ import annotations

from quintant.operators.cosmos.api.status import FullNodeStatus, SnapshotCandidate
from quintant.operators.cosmos.scheduled_volume_snapshot.plan.candidate import (
    given_back,
    is_candidate,
    taken_away,
)
from unit.operators.cosmos.schedules import schedule, view

OTHER = {"other": SnapshotCandidate(pod_candidate="hub-9")}
BEFORE = FullNodeStatus(height={"hub-0": 7}, scheduled_snapshot_status=OTHER)


def test_a_pod_that_is_taken_and_given_back_leaves_no_trace() -> None:
    it = schedule()
    away = taken_away(BEFORE, it, "hub-0")
    assert away.scheduled_snapshot_status == {
        **OTHER, it.candidate_key: SnapshotCandidate(pod_candidate="hub-0"),
    }  # fmt: skip
    assert given_back(away, it) == BEFORE
    assert given_back(None, it) == FullNodeStatus()


def test_a_pod_is_a_candidate_while_it_is_the_one_that_would_be_chosen_now() -> None:
    assert is_candidate(view("DeletingPod"), "hub-0")
    assert not is_candidate(view("DeletingPod"), "hub-1")
    assert not is_candidate(view("DeletingPod", "+~~"), "hub-0")
    assert not is_candidate(view("DeletingPod", None), "hub-0")
