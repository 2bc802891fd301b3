"""Which copies of a ScheduledVolumeSnapshot are deleted. Pure.

ready        the newest are kept, as many as its user says; one that failed pushes none of them out
not ready    the last that was begun is kept, because it tells what is wrong; of the others those
             that failed go, those that a ready one came after, and more than there would be kept

Only what carries the schedule's label and a name that it gives to copies is its own.
"""

from __future__ import annotations

import re

from quintant.api.snapshot import VolumeSnapshot
from quintant.operators.cosmos.builders.instances import to_name
from quintant.operators.cosmos.scheduled_volume_snapshot.observed import SnapshotView

LIMIT = 3
_MOMENT = re.compile(r"[0-9]{12}(?:[0-9]{2})?", re.ASCII)


def surplus(view: SnapshotView) -> tuple[VolumeSnapshot, ...]:
    """The copies that go now."""
    own = [each for each in view.snapshots if is_own_copy(view, each) and not each.deleting]
    kept, last = view.schedule.spec.limit or LIMIT, view.status.last_snapshot
    ready = sorted((each for each in own if _is_ready(each)), key=_moment, reverse=True)
    newest = _moment(ready[0]) if ready else ""
    current = last.name if last is not None else ""
    others = [each for each in own if not _is_ready(each) and each.metadata.name != current]
    waiting = [each for each in others if not _failed(each) and _moment(each) > newest]
    spare = sorted(waiting, key=_moment, reverse=True)[:kept]
    return (*ready[kept:], *(each for each in others if each not in spare))


def is_own_copy(view: SnapshotView, copy: VolumeSnapshot) -> bool:
    """Whether a copy has a name that its schedule gives: labels are cut, and anybody's to write."""
    moment = copy.metadata.name.rpartition("-")[2]
    wanted = to_name(f"{view.schedule.metadata.name}-{moment}")
    return _MOMENT.fullmatch(moment) is not None and copy.metadata.name == wanted


def _is_ready(copy: VolumeSnapshot) -> bool:
    return copy.status is not None and bool(copy.status.ready_to_use)


def _failed(copy: VolumeSnapshot) -> bool:
    return copy.status is not None and copy.status.error is not None


def _moment(copy: VolumeSnapshot) -> str:
    taken = copy.status.creation_time if copy.status is not None else None
    return taken or copy.metadata.creation_timestamp or ""
