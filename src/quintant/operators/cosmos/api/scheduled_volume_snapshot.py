"""ScheduledVolumeSnapshot: when copies are made, of whose volume, and how many are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta

from quintant.api.meta import Condition
from quintant.api.snapshot import VolumeSnapshotStatus
from quintant.core.object import Custom, Model
from quintant.core.resource import resource
from quintant.core.schema.markers import date_time, list_map
from quintant.operators.cosmos.api import GROUP
from quintant.operators.cosmos.api.chain import Seconds
from quintant.operators.cosmos.api.full_node import MOST_REPLICAS

VERSION = "v1alpha1"
KEY_SUFFIX = f"{VERSION}.{GROUP}"
FINALIZER = f"{GROUP}/restore-pod"

SnapshotPhase = Literal[
    "WaitingForNext",
    "FindingCandidate",
    "DeletingPod",
    "WaitingForPodDeletion",
    "CreatingSnapshot",
    "WaitingForSnapshotCreation",
    "RestoringPod",
    "Suspended",
    "MissingCRDs",
]
MOST_COPIES = 1000
Moment = Annotated[str, date_time()]


class FullNodeRef(Model):
    """A CosmosFullNode of the same namespace."""

    name: str
    """Its name."""
    namespace: str = ""
    """Ignored: it is always that of the ScheduledVolumeSnapshot."""
    ordinal: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    """The instance to copy; without one, whichever is in sync."""


class SnapshotScheduleSpec(Model):
    """What to copy, and when."""

    full_node_ref: FullNodeRef
    schedule: Annotated[str, Meta(max_length=256)]
    """Five fields of a crontab, or @hourly and the like."""
    volume_snapshot_class_name: str
    """The VolumeSnapshotClass that makes the copies."""
    delete_pod: bool = False
    """Take the pod away while its volume is copied: nothing else makes sure that the copy is
    whole."""
    min_available: Annotated[int, Meta(ge=1, le=MOST_REPLICAS)] | None = None
    """How many nodes have to be in sync before a pod is taken away; 2 if not given."""
    limit: Annotated[int, Meta(ge=1, le=MOST_COPIES)] | None = None
    """How many copies are kept; 3 if not given."""
    suspend: bool = False
    """Whether no copies are begun."""
    snapshot_timeout_seconds: Seconds | None = None
    """How long a copy may take before the pod comes back without it; 1800 if not given."""


class SnapshotTarget(Model):
    """The instance whose volume is being copied."""

    pod_name: str
    """Its pod."""
    pvc_name: str
    """The claim that is copied."""
    pod_labels: Mapping[str, str] = {}
    """The labels of its pod, by which it is found again."""


class LastSnapshot(Model):
    """The last copy that was begun."""

    name: str
    """The VolumeSnapshot's name."""
    started_at: Moment
    """When it was begun."""
    status: VolumeSnapshotStatus | None = None


class SnapshotScheduleStatus(Model):
    """Where it is."""

    observed_generation: int | None = None
    """The generation of the spec that this status is about."""
    status: str | None = None
    """What is wrong, in words."""
    phase: SnapshotPhase | None = None
    """What is being done."""
    created_at: Moment | None = None
    """When it was first seen: schedules are counted from then on."""
    candidate: SnapshotTarget | None = None
    last_snapshot: LastSnapshot | None = None
    last_success: Moment | None = None
    """When the last copy was ready."""
    next_schedule_time: Moment | None = None
    """When the next copy is due."""
    failures: int | None = None
    """Copies that failed in a row."""
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    """What is true of it, one condition of each type."""


@resource(
    group=GROUP,
    version=VERSION,
    status=True,
    short=["svs"],
    columns={
        "Phase": ".status.phase",
        "Ready": r'.status.conditions[?(@.type=="Ready")].status',
        "Last": ".status.lastSnapshot.name",
        "Age": ".metadata.creationTimestamp",
    },
)
class ScheduledVolumeSnapshot(Custom[SnapshotScheduleSpec, SnapshotScheduleStatus]):
    """Copies of the volume of a full node, on time."""

    @property
    def candidate_key(self) -> str:
        """Its entry in the status of the CosmosFullNode."""
        return f"{self.metadata.namespace}.{self.metadata.name}.{KEY_SUFFIX}"
