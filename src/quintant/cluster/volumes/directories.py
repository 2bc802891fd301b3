"""csi-driver-host-path hostPath: the folders of volumes and snapshots: created, copied, removed.

`Directories` does so on this machine, off the event loop. `NoDirectories` does nothing, for
clusters whose pods are all simulated. Everything may be done twice: what is done already stays as
it is. A copy appears whole or not at all: it is made under another name, then renamed, and shares
its blocks with the original where the file system can (reflink). What vanishes while it is copied,
and what is no file, is left out.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import NamedTuple, Protocol

from msgspec import Struct

from quintant.cluster.common.volume_paths import snapshot_directory, volume_directory
from quintant.cluster.host.remove_tree import remove_folder

PARTIAL = ".partial"
"""Ends the name of a copy that is being made."""
_CLONE = 0x40049409
"""Linux' FICLONE: let a file have the blocks of another."""


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
        directory_of = (
            volume_directory if folder.sort is DirectoryKind.VOLUME else snapshot_directory
        )
        path = directory_of(self.root, folder.handle)
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


def copy_folder(source: Path, target: Path) -> None:
    """Copy a folder to a place that is free; nothing happens if the copy is there already."""
    if target.exists():
        return
    partial = target.with_name(target.name + PARTIAL)
    remove_folder(partial)
    partial.parent.mkdir(parents=True, exist_ok=True)
    partial.mkdir(mode=0o700)
    _fill(source, partial)
    shutil.copystat(source, partial)
    partial.rename(target)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file with its times and mode, sharing its blocks if that can be done."""
    if not _cloned(source, target):
        shutil.copyfile(source, target)
    shutil.copystat(source, target)


def _fill(source: Path, target: Path) -> None:
    with os.scandir(source) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                _copy(entry, target / entry.name)


def _copy(entry: os.DirEntry[str], target: Path) -> None:
    if entry.is_symlink():
        target.symlink_to(os.readlink(entry.path))
    elif entry.is_dir():
        target.mkdir()
        _fill(Path(entry.path), target)
        shutil.copystat(entry.path, target)
    elif entry.is_file():
        copy_file(Path(entry.path), target)


def _cloned(source: Path, target: Path) -> bool:
    try:
        # Other systems than Linux have no such module, or no such call.
        import fcntl

        with source.open("rb") as old, target.open("wb") as new:
            fcntl.ioctl(new.fileno(), _CLONE, old.fileno())
    except FileNotFoundError:
        raise
    except (ImportError, OSError):
        return False
    return True
