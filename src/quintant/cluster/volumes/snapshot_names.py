"""GetDynamicSnapshotContentNameForSnapshot: name and status of a content. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

from quintant.api.meta import ObjectMeta, ObjectReference
from quintant.api.quantity import Quantity
from quintant.api.snapshot import (
    GROUP,
    VolumeSnapshot,
    VolumeSnapshotClass,
    VolumeSnapshotContent,
    VolumeSnapshotContentSource,
    VolumeSnapshotContentSpec,
    VolumeSnapshotStatus,
)
from quintant.cluster.apiserver.meta.quantity import canonical
from quintant.cluster.volumes.sources import SNAPSHOT
from quintant.core.clock import timestamp

_KIBI = 1024


def content_name(snapshot: VolumeSnapshot) -> str:
    """The name of content that is made for a snapshot."""
    return f"snapcontent-{snapshot.metadata.uid}"


def new_content(
    snapshot: VolumeSnapshot, kind: VolumeSnapshotClass, handle: str
) -> VolumeSnapshotContent:
    """The content to be made for a snapshot of a volume."""
    meta = snapshot.metadata
    ref = ObjectReference(
        api_version=f"{GROUP}/v1", kind=SNAPSHOT, namespace=meta.namespace, name=meta.name,
        uid=meta.uid, resource_version=meta.resource_version,
    )  # fmt: skip
    return VolumeSnapshotContent(
        metadata=ObjectMeta(name=content_name(snapshot)),
        spec=VolumeSnapshotContentSpec(
            driver=kind.driver,
            deletion_policy=kind.deletion_policy,
            volume_snapshot_ref=ref,
            source=VolumeSnapshotContentSource(volume_handle=handle),
            volume_snapshot_class_name=kind.metadata.name,
        ),
    )


def status_of(content: VolumeSnapshotContent) -> VolumeSnapshotStatus:
    """What a snapshot tells of its content."""
    name, status = content.metadata.name, content.status
    if status is None:
        return VolumeSnapshotStatus(bound_volume_snapshot_content_name=name, ready_to_use=False)
    since = status.creation_time
    moment = datetime.fromtimestamp(since / 1e9, UTC) if since is not None else None
    return VolumeSnapshotStatus(
        bound_volume_snapshot_content_name=name,
        creation_time=timestamp(moment) if moment is not None else None,
        ready_to_use=bool(status.ready_to_use),
        restore_size=_size(status.restore_size) if status.restore_size is not None else None,
        error=status.error,
    )


def _size(number: int) -> Quantity:
    """A number of bytes as people write it."""
    whole = number >= _KIBI and number % _KIBI == 0
    return Quantity(canonical(f"{number // _KIBI}Ki" if whole else str(number)))


def bound_content_name(snapshot: VolumeSnapshot) -> str:
    """The name of a snapshot's content, whether it is there or not."""
    given = snapshot.spec.source.volume_snapshot_content_name
    return given or content_name(snapshot)
