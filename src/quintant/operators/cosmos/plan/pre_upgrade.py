"""The copy of a halted node's volume that is made before its program changes. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.api.events import PlannedEvent
from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotSource, VolumeSnapshotSpec
from quintant.core.object import ObjectMeta
from quintant.operators.cosmos.builders.instances import labels
from quintant.operators.cosmos.observed.full_node import Observed, main_pods
from quintant.operators.cosmos.observed.pre_upgrade import snapshot_name


@dataclass(frozen=True, slots=True)
class UpgradeSnapshot:
    """A copy to make now, once the server agrees that the pod is gone."""

    pod: str
    snapshot: VolumeSnapshot
    event: PlannedEvent


def plan_pre_upgrade(observed: Observed) -> UpgradeSnapshot | None:
    """The copy that an upgrade waits for, if it is not there and its pod is gone."""
    version, candidate = observed.pre_upgrade.version, observed.pre_upgrade.candidate
    if version is None or candidate is None:
        return None
    name = snapshot_name(observed.full_node, version)
    pods = {pod.metadata.name for pod in main_pods(observed.pods)}
    if candidate.name in pods or any(each.metadata.name == name for each in observed.snapshots):
        return None
    # No owner reference: it outlives what it is a copy of.
    meta = ObjectMeta(
        name=name,
        namespace=observed.full_node.metadata.namespace,
        labels=labels(observed.full_node, instance=candidate.name),
    )
    source = VolumeSnapshotSource(persistent_volume_claim_name=candidate.claim)
    spec = VolumeSnapshotSpec(source=source, volume_snapshot_class_name=version.snapshot_before)
    message = f"{candidate.claim} is copied as {name} before the upgrade"
    return UpgradeSnapshot(
        candidate.name,
        VolumeSnapshot(metadata=meta, spec=spec),
        PlannedEvent("Normal", "SnapshotBeforeUpgrade", message),
    )
