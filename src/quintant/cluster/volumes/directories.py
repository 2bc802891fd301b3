"""The folders of volumes and snapshots: made, filled, copied and removed.

`Directories` does so on this machine, off the event loop. `NoDirectories` does nothing, for
clusters whose pods are all simulated. Everything may be done twice: what is done already stays as
it is.
"""

from __future__ import annotations

import asyncio
from enum import Enum
from pathlib import Path
from typing import NamedTuple, Protocol

from msgspec import Struct

from quintant.cluster.common.volume_paths import snapshot_directory, volume_directory
from quintant.cluster.host.remove_tree import remove_folder
from quintant.cluster.volumes.reflink import copy_folder


class DirectoryKind(Enum):
    """What a folder is for."""

    VOLUME = "volume"
    SNAPSHOT = "snapshot"


class VolumeDirectory(NamedTuple):
    """A folder of the driver's, by what it is for and its handle."""

    sort: DirectoryKind
    handle: str


class SourceMissing(Exception):
    """A folder that should be copied is not there; the text says which."""


class VolumeBackend(Protocol):
    """Where the folders are."""

    async def make(self, folder: VolumeDirectory, source: VolumeDirectory | None = None) -> None:
        """Make a folder, a copy of another if one is named; SourceMissing if that is not there."""

    async def remove(self, folder: VolumeDirectory) -> None:
        """Remove a folder with everything in it."""

    async def exists(self, folder: VolumeDirectory) -> bool:
        """Whether a folder is there."""


class Directories(Struct, frozen=True):
    """Folders of this machine, below a root."""

    root: Path

    async def make(self, folder: VolumeDirectory, source: VolumeDirectory | None = None) -> None:
        await asyncio.to_thread(self._make, folder, source)

    async def remove(self, folder: VolumeDirectory) -> None:
        await asyncio.to_thread(remove_folder, self._path(folder))

    async def exists(self, folder: VolumeDirectory) -> bool:
        return await asyncio.to_thread(self._path(folder).is_dir)

    def _make(self, folder: VolumeDirectory, source: VolumeDirectory | None) -> None:
        path = self._path(folder)
        if source is None:
            path.mkdir(parents=True, exist_ok=True)
            return
        origin = self._path(source)
        # A volume that no pod has used yet may have no folder, and is empty.
        if not origin.is_dir() and source.sort is DirectoryKind.SNAPSHOT:
            raise SourceMissing(f"the {source.sort.value} {source.handle} has no folder")
        origin.mkdir(parents=True, exist_ok=True)
        copy_folder(origin, path)

    def _path(self, folder: VolumeDirectory) -> Path:
        where = volume_directory if folder.sort is DirectoryKind.VOLUME else snapshot_directory
        path = where(self.root, folder.handle)
        if path is None:
            raise SourceMissing(f"{folder.handle!r} cannot be the handle of a {folder.sort.value}")
        return path


class NoDirectories(Struct):
    """No folders at all: everything is there as soon as it was made."""

    async def make(self, folder: VolumeDirectory, source: VolumeDirectory | None = None) -> None:
        """There is nothing to make."""

    async def remove(self, folder: VolumeDirectory) -> None:
        """There is nothing to remove."""

    async def exists(self, folder: VolumeDirectory) -> bool:
        return True
