"""What may be observed of a ScheduledVolumeSnapshot, to decide about."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from quintant.core.clock import timestamp
from quintant.core.object import ObjectMeta, replace
from quintant.operators.cosmos.api.scheduled_volume_snapshot import (
    FullNodeRef,
    ScheduledVolumeSnapshot,
    SnapshotPhase,
    SnapshotScheduleSpec,
    SnapshotScheduleStatus,
    SnapshotTarget,
)
from quintant.operators.cosmos.api.status import FullNodeStatus, SnapshotCandidate
from quintant.operators.cosmos.scheduled_volume_snapshot.observed import SnapshotView
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
        metadata=ObjectMeta(name="nightly", namespace="test", generation=1),
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
        nodes = type(nodes)(
            full_node=replace(nodes.full_node, status=status), pods=nodes.pods, now=NOW
        )
    return SnapshotView(it, observed=nodes, now=NOW, **{"served": True, **found})
