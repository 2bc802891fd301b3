"""The copy that a ScheduledVolumeSnapshot makes. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotSource, VolumeSnapshotSpec
from quintant.core.object import ObjectMeta
from quintant.operators.cosmos.api import COMPONENT_LABEL, OURS, SOURCE_LABEL
from quintant.operators.cosmos.api.scheduled_volume_snapshot import (
    ScheduledVolumeSnapshot,
    SnapshotTarget,
)
from quintant.operators.cosmos.scheduled_volume_snapshot.observed import source_of

COMPONENT = "ScheduledVolumeSnapshot"


def build_snapshot(
    schedule: ScheduledVolumeSnapshot, name: str, chosen: SnapshotTarget
) -> VolumeSnapshot:
    """A copy of a volume; it has no owner, so that it outlives what it is a copy of."""
    labels: Mapping[str, str] = {
        **chosen.pod_labels,
        **OURS,
        COMPONENT_LABEL: COMPONENT,
        SOURCE_LABEL: source_of(schedule),
    }
    return VolumeSnapshot(
        metadata=ObjectMeta(name=name, namespace=schedule.metadata.namespace, labels=labels),
        spec=VolumeSnapshotSpec(
            source=VolumeSnapshotSource(persistent_volume_claim_name=chosen.pvc_name),
            volume_snapshot_class_name=schedule.spec.volume_snapshot_class_name,
        ),
    )
