"""Empties a folder, and leaves the folder itself: it is a mount."""

from __future__ import annotations

import shutil
from pathlib import Path


def clean(folder: Path) -> None:
    """Remove everything in a folder; one that is not there is empty."""
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
