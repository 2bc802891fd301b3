"""What a ScheduledVolumeSnapshot depends on, read from the caches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from quintant.api.snapshot import VolumeSnapshot
from quintant.core.object import Request
from quintant.operators.cosmos.api import SOURCE_LABEL
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.scheduled_volume_snapshot import ScheduledVolumeSnapshot
from quintant.operators.cosmos.api.views import NodePod
from quintant.operators.cosmos.observe.reader import observe as observe_full_node
from quintant.operators.cosmos.observe.triggers import owner_of
from quintant.operators.cosmos.remote.comet import CometCache
from quintant.operators.cosmos.scheduled_volume_snapshot.observed import (
    SnapshotView,
    holds,
    source_of,
)
from quintant.runtime.cache.client import Client

_AWAY = (
    "WaitingForPodDeletion", "CreatingSnapshot", "WaitingForSnapshotCreation", "RestoringPod",
)  # fmt: skip
"""The phases in which a pod is away: a cache that does not have it may be behind."""


async def observe(
    schedule: ScheduledVolumeSnapshot, client: Client, cache: CometCache, now: datetime
) -> SnapshotView:
    """Read everything about a ScheduledVolumeSnapshot."""
    namespace, served = schedule.metadata.namespace, client.is_served(VolumeSnapshot)
    full_node = await _full_node(schedule, client)
    observed = None
    if full_node is not None:
        observed = await observe_full_node(full_node, client, cache, now)
    wanted = {SOURCE_LABEL: source_of(schedule)}
    copies = await client.list(VolumeSnapshot, namespace, labels=wanted) if served else ()
    gone = await _gone(schedule, client)
    return SnapshotView(schedule, served, observed, tuple(copies), gone, now)


async def _full_node(schedule: ScheduledVolumeSnapshot, client: Client) -> CosmosFullNode | None:
    """The CosmosFullNode; by the server's own word if a cache does not know what we took away."""
    key = schedule.spec.full_node_ref.name, schedule.metadata.namespace
    if not schedule.spec.full_node_ref.name:
        # What has no name is not there; to look for it is an error.
        return None
    full_node, status = await client.find(CosmosFullNode, *key), schedule.status
    away = status is not None and status.candidate is not None and status.phase in _AWAY
    if full_node is None or not away or holds(full_node, schedule):
        return full_node
    return await client.find(CosmosFullNode, *key, live=True)


async def _gone(schedule: ScheduledVolumeSnapshot, client: Client) -> bool:
    """Whether a candidate's pod is gone; a cache that says so may be ahead of us."""
    status = schedule.status
    if status is None or status.candidate is None or status.phase != "WaitingForPodDeletion":
        return False
    name, namespace = status.candidate.pod_name, schedule.metadata.namespace
    if await client.find(NodePod, name, namespace) is not None:
        return False
    return await client.find(NodePod, name, namespace, live=True) is None


def full_node_of_pod(pod: NodePod) -> Iterable[str]:
    """Where the index has those that a pod concerns."""
    return map(str, owner_of(pod))


def schedule_of(snapshot: VolumeSnapshot) -> Sequence[Request]:
    """The ScheduledVolumeSnapshot that a copy came from."""
    name = snapshot.metadata.labels.get(SOURCE_LABEL, "")
    return (Request(name, snapshot.metadata.namespace),) if name else ()


def full_node_aspects(full_node: CosmosFullNode) -> object:
    """What of a CosmosFullNode matters here."""
    status = full_node.status
    if status is None:
        return full_node.metadata.generation
    held = status.scheduled_snapshot_status
    return full_node.metadata.generation, held, status.in_sync_replicas, status.ready_replicas
