"""Copies of folders, made so that they share their blocks where the file system can (reflink).

A copy appears whole or not at all: it is made under another name and then renamed. What vanishes
while it is copied is left out, as it would be had the copy been made a moment later; sockets and
other things that are no files are left out, too. These functions block.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from quintant.cluster.host.remove_tree import remove_folder

PARTIAL = ".partial"
"""Ends the name of a copy that is being made."""
_CLONE = 0x40049409
"""Linux' FICLONE: let a file have the blocks of another."""


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
