"""What a ScheduledVolumeSnapshot depends on, read from the caches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from quintant.api.snapshot import VolumeSnapshot
from quintant.core.object import Request
from quintant.operators.cosmos.api import SOURCE_LABEL
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.views import NodePod
from quintant.operators.cosmos.builders.instances import LABEL_LENGTH, trim_middle
from quintant.operators.cosmos.cache.observe import CometCache
from quintant.operators.cosmos.observe.observed import Observed
from quintant.operators.cosmos.observe.reader import observe
from quintant.operators.cosmos.observe.triggers import owner_of
from quintant.operators.cosmos.plan.rollout import disruption_budget
from quintant.operators.cosmos.scheduled_volume_snapshot.api import (
    ScheduledVolumeSnapshot,
    SnapshotScheduleStatus,
)
from quintant.runtime.cache.client import Client

FULL_NODE_INDEX = "full-node"
"""The index of ScheduledVolumeSnapshots by the CosmosFullNode that they copy."""
_AWAY = (
    "WaitingForPodDeletion", "CreatingSnapshot", "WaitingForSnapshotCreation", "RestoringPod",
)  # fmt: skip
"""The phases in which a pod is away: whoever does not see that may be behind."""


@dataclass(frozen=True, slots=True)
class SnapshotView:
    """Everything that was read about one ScheduledVolumeSnapshot."""

    schedule: ScheduledVolumeSnapshot
    served: bool
    """Whether the server knows VolumeSnapshots."""
    full_node: Observed | None = None
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
        return self.full_node is not None and _holds(self.full_node.crd, self.schedule)

    @property
    def budget(self) -> int:
        """How many nodes may be taken away now."""
        return disruption_budget(self.full_node) if self.full_node is not None else 0


async def view(
    schedule: ScheduledVolumeSnapshot, client: Client, cache: CometCache, now: datetime
) -> SnapshotView:
    """Read everything about a ScheduledVolumeSnapshot."""
    place, served = schedule.metadata.namespace, client.is_served(VolumeSnapshot)
    crd = await _full_node(schedule, client)
    seen = await observe(crd, client, cache, now) if crd is not None else None
    wanted = {SOURCE_LABEL: source_of(schedule)}
    found = await client.list(VolumeSnapshot, place, labels=wanted) if served else ()
    gone = await _gone(schedule, client)
    return SnapshotView(schedule, served, seen, tuple(found), gone, now)


async def _full_node(schedule: ScheduledVolumeSnapshot, client: Client) -> CosmosFullNode | None:
    """The CosmosFullNode; by the server's own word if a cache does not know what we took away."""
    key = schedule.spec.full_node_ref.name, schedule.metadata.namespace
    crd, status = await client.find(CosmosFullNode, *key), schedule.status
    away = status is not None and status.candidate is not None and status.phase in _AWAY
    if crd is None or not away or _holds(crd, schedule):
        return crd
    return await client.find(CosmosFullNode, *key, live=True)


def _holds(crd: CosmosFullNode, schedule: ScheduledVolumeSnapshot) -> bool:
    return crd.status is not None and (
        schedule.candidate_key in crd.status.scheduled_snapshot_status
    )


async def _gone(schedule: ScheduledVolumeSnapshot, client: Client) -> bool:
    """Whether a candidate's pod is gone; a cache that says so may be ahead of us."""
    status = schedule.status
    if status is None or status.candidate is None or status.phase != "WaitingForPodDeletion":
        return False
    name, place = status.candidate.pod_name, schedule.metadata.namespace
    if await client.find(NodePod, name, place) is not None:
        return False
    return await client.find(NodePod, name, place, live=True) is None


def source_of(schedule: ScheduledVolumeSnapshot) -> str:
    """What the label of its copies says."""
    return trim_middle(schedule.metadata.name, LABEL_LENGTH)


def full_node_key(schedule: ScheduledVolumeSnapshot) -> Iterable[str]:
    """Where the index files a ScheduledVolumeSnapshot."""
    return (f"{schedule.metadata.namespace}/{schedule.spec.full_node_ref.name}",)


def full_node_of_pod(pod: NodePod) -> Iterable[str]:
    """Where the index has those that a pod concerns."""
    return map(str, owner_of(pod))


def schedule_of(snapshot: VolumeSnapshot) -> Sequence[Request]:
    """The ScheduledVolumeSnapshot that a copy came from."""
    name = snapshot.metadata.labels.get(SOURCE_LABEL, "")
    return (Request(name, snapshot.metadata.namespace),) if name else ()


def phase_of(schedule: ScheduledVolumeSnapshot) -> object:
    """What of its own status leads to the next step."""
    return schedule.status.phase if schedule.status is not None else None


def full_node_aspects(crd: CosmosFullNode) -> object:
    """What of a CosmosFullNode matters here."""
    status = crd.status
    if status is None:
        return crd.metadata.generation
    held = status.scheduled_snapshot_status
    return crd.metadata.generation, held, status.in_sync_replicas, status.ready_replicas
