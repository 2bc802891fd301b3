"""AtomicWriter: volume folders on disk, replaced as a whole, and a root for each container.

    POD/volumes/NAME            the volume itself
    POD/containers/NAME/root    what the container takes for /, with its volumes at the mount paths

Files of ConfigMaps, Secrets and tokens are exchanged all at once: `..data` points to a folder with
all of them, and is moved to the next in one step. A reader sees the old or the new, never half.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from quintant.cluster.kubelet.volume.projected import MountError, ProjectedFile
from quintant.cluster.kubelet.volume.rootfs import path_in_root

FOLDER_MODE = 0o755
DATA = "..data"
_NEXT = "..data_tmp"
_SETS = "..set-"


def publish(folder: Path, files: Mapping[str, ProjectedFile]) -> None:
    """Make a folder hold exactly these files, in one step for who reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    current = _current(folder)
    fresh = folder / f"{_SETS}{int(current.name.removeprefix(_SETS)) + 1 if current else 1}"
    _fill(fresh, files)
    ahead = folder / _NEXT
    ahead.unlink(missing_ok=True)
    ahead.symlink_to(fresh.name)
    ahead.replace(folder / DATA)
    _expose(folder, files)
    if current is not None:
        shutil.rmtree(current)


def link(path: Path, target: Path, root: Path) -> None:
    """Make a volume, or something in it, appear at a place; what was there in the root is hidden.

    MountError rather than lose what another volume holds at that place.
    """
    make_room(path, root)
    path.symlink_to(target)


def make_room(path: Path, root: Path) -> None:
    """Hide what is at a place of a root."""
    path.parent.mkdir(parents=True, exist_ok=True)
    ours = is_own(path, root)
    if path.is_symlink() or (ours and path.is_file()):
        path.unlink()
    elif ours and path.is_dir():
        shutil.rmtree(path)
    elif path.exists():
        _clear(path)


def is_own(path: Path, root: Path) -> bool:
    """Whether a place is in a root itself, and not in a volume that appears there."""
    return path.parent.resolve().is_relative_to(root.resolve())


def _clear(path: Path) -> None:
    try:
        path.rmdir()
    except OSError as error:
        raise MountError(f"{path.name} is in another volume already, and not empty") from error


def join_inside(folder: Path, path: str) -> Path:
    """A place within a volume; MountError if it would lead out of it."""
    found = path_in_root(folder, path)
    if ".." in Path(path).parts or not found.resolve().is_relative_to(folder.resolve()):
        raise MountError(f"subPath {path!r} leads out of its volume")
    return found


def _current(folder: Path) -> Path | None:
    with suppress(OSError):
        return folder / os.readlink(folder / DATA)
    return None


def _fill(folder: Path, files: Mapping[str, ProjectedFile]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=FOLDER_MODE)
    for name, file in files.items():
        path = path_in_root(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(file.content)
        path.chmod(file.mode)


def _expose(folder: Path, files: Mapping[str, ProjectedFile]) -> None:
    """Links for what is there, and none for what is not."""
    wanted = {Path(name).parts[0] for name in files}
    for entry in folder.iterdir():
        through = entry.is_symlink() and os.readlink(entry).startswith(f"{DATA}/")
        if through and entry.name not in wanted:
            entry.unlink()
    for name in wanted:
        path = folder / name
        if not path.is_symlink():
            path.symlink_to(f"{DATA}/{name}")
