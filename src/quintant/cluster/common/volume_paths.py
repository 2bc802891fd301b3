"""Folders of the CSI driver's volumes and snapshots: the only module that knows them.

For the kubelet: `local_directory(root, volume)` is what to mount for a PersistentVolume, or None if
it cannot be mounted here. `root` is the folder of the whole cluster's storage. The driver makes and
removes the folders of its own volumes; those of hostPath and local volumes are their author's.
"""

from __future__ import annotations

from pathlib import Path

from quintant.api.core import PersistentVolume
from quintant.api.snapshot import VolumeSnapshotContent

DRIVER = "directory.quintant.dev"
"""The name of our driver: in volumes, in storage classes and in snapshot classes."""
ROOT = "storage"
"""The folder of storage within a cluster's data directory."""
_VOLUMES = "volumes"
_SNAPSHOTS = "snapshots"


def local_directory(root: Path, volume: PersistentVolume) -> Path | None:
    """The folder that holds a volume's files; None if the volume is not one of this machine."""
    spec = volume.spec
    if spec.csi is not None and spec.csi.driver == DRIVER:
        return volume_directory(root, spec.csi.volume_handle)
    if spec.host_path is not None:
        return Path(spec.host_path.path)
    return Path(spec.local.path) if spec.local is not None else None


def volume_directory(root: Path, handle: str) -> Path | None:
    """The folder of one of our volumes; None if no volume of ours has such a handle."""
    return _inside(root / _VOLUMES, handle)


def snapshot_directory(root: Path, handle: str) -> Path | None:
    """The folder of one of our snapshots; None if no snapshot of ours has such a handle."""
    return _inside(root / _SNAPSHOTS, handle)


def snapshot_handle(content: VolumeSnapshotContent) -> str:
    """What the driver calls the copy behind a VolumeSnapshotContent; empty if it has none."""
    if content.spec.source.snapshot_handle:
        return content.spec.source.snapshot_handle
    return (content.status.snapshot_handle if content.status else "") or ""


def _inside(folder: Path, handle: str) -> Path | None:
    # A handle is written by whoever may write a volume: it must not lead out of the folder.
    plain = handle not in ("", ".", "..") and "/" not in handle and "\0" not in handle
    return folder / handle if plain else None
