"""Removes folders, whatever permissions the programs that filled them left.

Programs of pods run as the user who removes their folders, and may leave folders that nobody can
write to, such as caches of modules. Links are removed, never followed. These functions block.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

_OWNED = 0o700
"""What the owner needs to empty a folder."""


def remove_folder(folder: Path) -> None:
    """Remove a folder with everything in it, if it is there; OSError if that cannot be done."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        _unlock(folder)
        with suppress(FileNotFoundError):
            shutil.rmtree(folder)


def discard_folder(folder: Path) -> None:
    """Remove as much of a folder as can be removed."""
    with suppress(OSError):
        remove_folder(folder)


def _unlock(folder: Path) -> None:
    """Let its owner into a folder and all folders in it."""
    with suppress(OSError):
        folder.chmod(_OWNED)
    for parent, names, _ in os.walk(folder):
        for name in names:
            inner = Path(parent, name)
            if not inner.is_symlink():
                with suppress(OSError):
                    inner.chmod(_OWNED)
