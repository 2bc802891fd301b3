"""A copy of one halted node's volume before its program changes, if the version asks for it. Pure.

    halted ──> the pod of the lowest ordinal goes ──> copy ──> ready ──> all get the next version

The chain stands still meanwhile, so nothing is lost but time. A copy that fails, or takes too long,
holds nobody back for ever. What is done follows from what is there: after a crash it goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotSource, VolumeSnapshotSpec
from quintant.core.clock import parse_timestamp
from quintant.core.object import ObjectMeta
from quintant.operators.cosmos.api.chain import ChainVersion
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.status import FullNodeStatus
from quintant.operators.cosmos.builders.instances import (
    Instance,
    app_name,
    instances,
    labels,
    to_name,
)
from quintant.operators.cosmos.plan.upgrades import resolve_version

LIMIT = timedelta(minutes=30)
"""How long a copy may take before the upgrade goes on without it."""


@dataclass(frozen=True, slots=True)
class PreUpgrade:
    """The version that waits for a copy, and whose volume is copied."""

    version: ChainVersion | None = None
    candidate: Instance | None = None
    create: VolumeSnapshot | None = None
    """The copy to make now: the candidate's pod is gone."""

    @property
    def held_below(self) -> int | None:
        """The height below which versions are chosen meanwhile."""
        return self.version.height if self.version is not None else None


def plan_pre_upgrade(
    crd: CosmosFullNode,
    images: Mapping[str, str],
    snapshots: Iterable[VolumeSnapshot],
    now: datetime,
) -> PreUpgrade:
    """What an upgrade waits for; `images` are what pods run, by name."""
    status, versions = crd.status or FullNodeStatus(), crd.spec.chain.versions
    waiting = []
    for instance in instances(crd):
        told = status.upgrade_info.get(instance.name)
        version = resolve_version(versions, told.height) if told is not None else None
        if version is None or not version.snapshot_before:
            continue
        if images.get(instance.name) == version.image:
            return PreUpgrade()  # one has it already: it is too late for a copy
        if status.height.get(instance.name, 0) <= version.height + 1:
            waiting.append((instance, version))
    if not waiting:
        return PreUpgrade()
    candidate, version = waiting[0]
    name = to_name(f"{app_name(crd)}-before-{version.height}")
    found = next((each for each in snapshots if each.metadata.name == name), None)
    if found is not None and _is_over(found, now):
        return PreUpgrade()
    gone = candidate.name not in images
    copy = _copy(crd, candidate, name, version) if found is None and gone else None
    return PreUpgrade(version, candidate, copy)


def _is_over(copy: VolumeSnapshot, now: datetime) -> bool:
    if copy.status is not None and (copy.status.ready_to_use or copy.status.error is not None):
        return True
    made = copy.metadata.creation_timestamp
    return made is not None and now - parse_timestamp(made) > LIMIT


def _copy(
    crd: CosmosFullNode, candidate: Instance, name: str, version: ChainVersion
) -> VolumeSnapshot:
    """It belongs to nobody, so that it outlives what it is a copy of."""
    source = VolumeSnapshotSource(persistent_volume_claim_name=candidate.claim)
    marks = labels(crd, instance=candidate.name)
    return VolumeSnapshot(
        metadata=ObjectMeta(name=name, namespace=crd.metadata.namespace, labels=marks),
        spec=VolumeSnapshotSpec(source=source, volume_snapshot_class_name=version.snapshot_before),
    )
