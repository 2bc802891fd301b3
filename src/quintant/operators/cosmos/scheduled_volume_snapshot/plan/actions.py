"""What a step of a ScheduledVolumeSnapshot does, and where that leads. Values only.

An action carries the reason under which its refusal is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from quintant.api.snapshot import VolumeSnapshot
from quintant.operators.cosmos.api.scheduled_volume_snapshot import SnapshotScheduleStatus


@dataclass(frozen=True, slots=True)
class CheckPhase:
    """Make sure that the server knows of no later phase: a list that we began with may be old."""

    refusal: ClassVar[str] = ""


@dataclass(frozen=True, slots=True)
class TakeAway:
    """Take a pod away; under the lock it is planned again."""

    pod: str
    refusal: ClassVar[str] = "DeletePodError"


@dataclass(frozen=True, slots=True)
class GiveBack:
    """Let the pod that was taken away come back."""

    refusal: ClassVar[str] = "RestorePodError"


@dataclass(frozen=True, slots=True)
class CreateSnapshot:
    """Make a copy."""

    snapshot: VolumeSnapshot
    refusal: ClassVar[str] = "CreateVolumeSnapshotError"


@dataclass(frozen=True, slots=True)
class DeleteSnapshot:
    """Delete a copy beyond those that are kept."""

    snapshot: VolumeSnapshot
    refusal: ClassVar[str] = "DeleteOldSnapshotsError"


SnapshotAction = CheckPhase | TakeAway | GiveBack | CreateSnapshot | DeleteSnapshot


@dataclass(frozen=True, slots=True)
class SnapshotStep:
    """What is done now, where that leads, and when to look again."""

    status: SnapshotScheduleStatus
    take_away: str = ""
    """The pod to take away; it is looked at once more, under the lock."""
    give_back: bool = False
    """Whether the pod that was taken away is to come back."""
    create: VolumeSnapshot | None = None
    delete: tuple[VolumeSnapshot, ...] = ()
    result: str = ""
    """How a copy ended, to be counted: success or failure."""
    after: float | None = None
    """Seconds until the next look; None leaves it to changes, such as that of the phase."""
    problem: tuple[str, str] = field(default=("", ""))
    """A reason of conclusion.REASONS, and what to say."""

    @property
    def actions(self) -> Iterator[SnapshotAction]:
        """What is done, in this order."""
        if self.take_away or self.give_back or self.create is not None:
            yield CheckPhase()
        if self.take_away:
            yield TakeAway(self.take_away)
        if self.give_back:
            yield GiveBack()
        if self.create is not None:
            yield CreateSnapshot(self.create)
        yield from map(DeleteSnapshot, self.delete)
