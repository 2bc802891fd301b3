"""Everything that is known of one StatefulJob: the input of every decision. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from quintant.api.batch import Job
from quintant.api.snapshot import VolumeSnapshot
from quintant.api.volume import PersistentVolumeClaim
from quintant.operators.cosmos.api.stateful_job import StatefulJob, StatefulJobStatus


@dataclass(frozen=True, slots=True)
class JobView:
    """Everything that was read about one StatefulJob."""

    owner: StatefulJob
    served: bool
    """Whether the server knows VolumeSnapshots."""
    job: Job | None = None
    claim: PersistentVolumeClaim | None = None
    snapshots: tuple[VolumeSnapshot, ...] = ()
    taken: str = ""
    """Whose the name is, if it is not ours."""
    now: datetime = datetime.min

    @property
    def status(self) -> StatefulJobStatus:
        return self.owner.status or StatefulJobStatus()
