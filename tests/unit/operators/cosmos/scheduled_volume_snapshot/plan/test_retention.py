"""Which copies go: by what they are, never by what they are called alone."""

from __future__ import annotations

from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotError, VolumeSnapshotStatus
from quintant.core.object import ObjectMeta
from quintant.operators.cosmos.api.scheduled_volume_snapshot import LastSnapshot
from quintant.operators.cosmos.scheduled_volume_snapshot.plan.retention import surplus
from unit.operators.cosmos.schedules import view


def copy(day: int, state: str = "ready", name: str = "") -> VolumeSnapshot:
    """A copy of a day: ready, failed, or waiting for its driver."""
    status = {
        "ready": VolumeSnapshotStatus(creation_time=f"2026-01-0{day}T00:00:00Z", ready_to_use=True),
        "failed": VolumeSnapshotStatus(
            creation_time=f"2026-01-0{day}T00:00:00Z", error=VolumeSnapshotError(message="full")
        ),
        "waiting": None,
    }
    meta = ObjectMeta(
        name=name or f"nightly-2026010{day}0000", creation_timestamp=f"2026-01-0{day}T00:00:00Z"
    )
    return VolumeSnapshot(metadata=meta, status=status[state])


def gone(*copies: VolumeSnapshot, last: int = 0) -> list[int]:
    """The days whose copies go; `last` is the day of the last that was begun."""
    begun = LastSnapshot(name=f"nightly-2026010{last}0000", started_at="2026-01-01T00:00:00Z")
    status = {"last_snapshot": begun} if last else {}
    old = surplus(view("WaitingForNext", snapshots=copies, limit=2, status=status))
    return [int(each.metadata.name[-5]) for each in old]


def test_the_newest_copies_that_are_ready_are_kept() -> None:
    assert gone(*map(copy, (1, 3, 2, 5, 4))) == [3, 2, 1]


def test_copies_that_failed_push_out_no_good_one_and_go_but_for_the_last() -> None:
    failed = [copy(day, "failed") for day in (3, 4, 5, 6)]
    assert gone(copy(1), copy(2), *failed, last=6) == [3, 4, 5]


def test_copies_that_nobody_makes_do_not_pile_up() -> None:
    waiting = [copy(day, "waiting") for day in (1, 2, 3, 4, 5, 6)]
    assert gone(*waiting, last=6) == [1, 2, 3]


def test_a_copy_that_is_still_made_is_kept_until_a_later_one_is_ready() -> None:
    assert gone(copy(1), copy(2, "waiting"), last=3) == []
    assert gone(copy(3), copy(2, "waiting"), last=3) == [2]


def test_what_only_carries_the_label_is_not_deleted() -> None:
    others = (copy(1, name="nightly-by-hand-1"), copy(2, "failed", name="theirs-202601020000"))
    assert gone(*others, *map(copy, (7, 8, 9))) == [7]
