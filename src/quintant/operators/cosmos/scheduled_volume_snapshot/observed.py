"""Everything that is known of one ScheduledVolumeSnapshot: the input of every decision. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from quintant.api.snapshot import VolumeSnapshot
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.scheduled_volume_snapshot import (
    ScheduledVolumeSnapshot,
    SnapshotPhase,
    SnapshotScheduleStatus,
)
from quintant.operators.cosmos.builders.instances import LABEL_LENGTH, trim_middle
from quintant.operators.cosmos.observed.full_node import Observed


@dataclass(frozen=True, slots=True)
class SnapshotView:
    """Everything that was read about one ScheduledVolumeSnapshot."""

    schedule: ScheduledVolumeSnapshot
    served: bool
    """Whether the server knows VolumeSnapshots."""
    observed: Observed | None = None
    snapshots: tuple[VolumeSnapshot, ...] = ()
    """Those that came from this schedule."""
    pod_gone: bool = False
    """Whether the candidate's pod is gone, by the server's own word."""
    now: datetime = datetime.min

    @property
    def status(self) -> SnapshotScheduleStatus:
        return self.schedule.status or SnapshotScheduleStatus()

    @property
    def held(self) -> bool:
        """Whether a pod is taken away for this schedule."""
        return self.observed is not None and holds(self.observed.full_node, self.schedule)


@dataclass(frozen=True, slots=True)
class SnapshotOutcome:
    """What became of the actions of a step."""

    lost: bool = False
    """Whether the pod was no candidate any more when it was to be taken away."""
    refusal: tuple[str, str] | None = None
    """A reason, and what the server answered, if it refused an action."""


def holds(full_node: CosmosFullNode, schedule: ScheduledVolumeSnapshot) -> bool:
    """Whether a CosmosFullNode knows of a pod that this schedule has taken away."""
    return full_node.status is not None and (
        schedule.candidate_key in full_node.status.scheduled_snapshot_status
    )


def source_of(schedule: ScheduledVolumeSnapshot) -> str:
    """The value of the label that its copies carry."""
    return trim_middle(schedule.metadata.name, LABEL_LENGTH)


def phase_of(schedule: ScheduledVolumeSnapshot) -> SnapshotPhase | None:
    """What of its own status leads to the next step."""
    return schedule.status.phase if schedule.status is not None else None
