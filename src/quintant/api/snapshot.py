"""Volume snapshots, as the CSI snapshot controller defines them."""

from __future__ import annotations

from collections.abc import Mapping

from quintant.api.meta import ObjectReference
from quintant.api.quantity import Quantity
from quintant.core.object import Model, Object
from quintant.core.resource import resource

GROUP = "snapshot.storage.k8s.io"


class VolumeSnapshotSource(Model):
    """The claim to copy, or content that exists already."""

    persistent_volume_claim_name: str | None = None
    volume_snapshot_content_name: str | None = None


class VolumeSnapshotSpec(Model):
    """What to copy, and with which class."""

    source: VolumeSnapshotSource = VolumeSnapshotSource()
    volume_snapshot_class_name: str | None = None


class VolumeSnapshotError(Model):
    """Why a snapshot failed."""

    message: str | None = None
    """What went wrong."""
    time: str | None = None
    """When it did."""


class VolumeSnapshotStatus(Model):
    """Whether a copy is ready, and how large a volume made from it must be at least."""

    bound_volume_snapshot_content_name: str | None = None
    """The VolumeSnapshotContent behind it."""
    creation_time: str | None = None
    """When the copy was taken."""
    ready_to_use: bool | None = None
    """Whether volumes can be made from it."""
    restore_size: Quantity | None = None
    """How large a volume made from it is at least."""
    error: VolumeSnapshotError | None = None


@resource(group=GROUP, version="v1", status=True)
class VolumeSnapshot(Object):
    """A copy of a volume at one moment."""

    spec: VolumeSnapshotSpec = VolumeSnapshotSpec()
    status: VolumeSnapshotStatus | None = None


class VolumeSnapshotContentSource(Model):
    """The volume, or the copy, as its driver knows it."""

    volume_handle: str | None = None
    snapshot_handle: str | None = None


class VolumeSnapshotContentSpec(Model):
    """Where a copy is kept, and whether it outlives its VolumeSnapshot."""

    driver: str
    deletion_policy: str
    volume_snapshot_ref: ObjectReference
    source: VolumeSnapshotContentSource = VolumeSnapshotContentSource()
    volume_snapshot_class_name: str | None = None


class VolumeSnapshotContentStatus(Model):
    """What the driver reported; the time is in nanoseconds since 1970, the size in bytes."""

    snapshot_handle: str | None = None
    creation_time: int | None = None
    restore_size: int | None = None
    ready_to_use: bool | None = None
    error: VolumeSnapshotError | None = None


@resource(group=GROUP, version="v1", namespaced=False, status=True)
class VolumeSnapshotContent(Object):
    """The copy itself, as a driver keeps it."""

    spec: VolumeSnapshotContentSpec
    status: VolumeSnapshotContentStatus | None = None


@resource(group=GROUP, version="v1", namespaced=False)
class VolumeSnapshotClass(Object):
    """A way to make snapshots."""

    driver: str = ""
    deletion_policy: str = ""
    parameters: Mapping[str, str] = {}
