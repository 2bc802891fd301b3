"""getVolumeContentSource: what a new volume is filled from: a CSI snapshot or another claim.

`find_data_source` follows the references to the folder to copy, and says how large it is at least.
`DataSourceUnusable` says, in the words of a provisioner, what is missing or not ready yet.
"""

from __future__ import annotations

from decimal import Decimal

from msgspec import Struct

from quintant.api.core import PersistentVolume, PersistentVolumeClaim
from quintant.api.quantity import parse_quantity
from quintant.api.snapshot import GROUP as SNAPSHOTS
from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotContent
from quintant.api.volume import TypedLocalObjectReference
from quintant.cluster.common.volume_binding import STORAGE
from quintant.cluster.common.volume_paths import DRIVER, snapshot_handle
from quintant.cluster.volumes.directories import DirectoryKind, VolumeDirectory
from quintant.runtime.cache.client import Client

SNAPSHOT = "VolumeSnapshot"
CLAIM = "PersistentVolumeClaim"


class DataSourceUnusable(Exception):
    """A source that cannot be copied, or not yet; the text says why."""


class CopySource(Struct, frozen=True):
    """A folder to copy, and how large its copy has to be at least."""

    folder: VolumeDirectory
    size: Decimal


def data_source(claim: PersistentVolumeClaim) -> TypedLocalObjectReference | None:
    """The source that a claim names; None if its volume is to be empty."""
    return claim.spec.data_source_ref or claim.spec.data_source


async def find_data_source(claim: PersistentVolumeClaim, client: Client) -> CopySource | None:
    """What a claim's volume is filled from; None if it is to be empty."""
    source, namespace = data_source(claim), claim.metadata.namespace
    if source is None:
        return None
    match source.api_group or "", source.kind:
        case (group, "VolumeSnapshot") if group == SNAPSHOTS:
            return await _snapshot(source.name, namespace, client)
        case ("", "PersistentVolumeClaim"):
            return await _claim(source.name, namespace, client)
    raise DataSourceUnusable(f"the DataSource specified is of unsupported kind {source.kind}")


async def _snapshot(name: str, namespace: str, client: Client) -> CopySource:
    found = await client.find(VolumeSnapshot, name, namespace)
    if found is None:
        raise DataSourceUnusable(f'{_about(SNAPSHOT, name)}: volumesnapshot "{name}" not found')
    status = found.status
    if status is None or not status.ready_to_use or not status.bound_volume_snapshot_content_name:
        raise DataSourceUnusable(f"{_about(SNAPSHOT, name)}: snapshot {name} is not Ready")
    if found.deleting:
        raise DataSourceUnusable(
            f"{_about(SNAPSHOT, name)}: snapshot {name} is currently being deleted"
        )
    content = await client.find(VolumeSnapshotContent, status.bound_volume_snapshot_content_name)
    if content is None or content.spec.driver != DRIVER or not snapshot_handle(content):
        raise DataSourceUnusable(
            f"{_about(SNAPSHOT, name)}: snapshot {name} is not of driver {DRIVER}"
        )
    size = parse_quantity(status.restore_size or "0")
    return CopySource(VolumeDirectory(DirectoryKind.SNAPSHOT, snapshot_handle(content)), size)


async def _claim(name: str, namespace: str, client: Client) -> CopySource:
    found = await client.find(PersistentVolumeClaim, name, namespace)
    if found is None:
        raise DataSourceUnusable(f'{_about(CLAIM, name)}: persistentvolumeclaim "{name}" not found')
    volume = await client.find(PersistentVolume, found.spec.volume_name or "-")
    if volume is None or found.status.phase != "Bound":
        raise DataSourceUnusable(f"{_about(CLAIM, name)}: the PVC {name} is not yet bound")
    csi = volume.spec.csi
    if csi is None or csi.driver != DRIVER:
        raise DataSourceUnusable(f"{_about(CLAIM, name)}: the PVC {name} is not of driver {DRIVER}")
    size = parse_quantity(volume.spec.capacity.get(STORAGE, "0"))
    return CopySource(VolumeDirectory(DirectoryKind.VOLUME, csi.volume_handle), size)


def _about(kind: str, name: str) -> str:
    return f"error getting handle for DataSource Type {kind} by Name {name}"
