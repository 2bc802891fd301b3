"""The folder that a ConfigMap appears in: its files, and again whenever they changed.

A kubelet exchanges all files at once, behind a link. Looking costs a few calls of the system, so it
is done every second; nothing is read before something changed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

LOOK_SECONDS = 1.0
LARGEST_BYTES = 1024 * 1024
"""Of a file: a whole ConfigMap has no more."""

Stamp = tuple[tuple[str, int, int, int], ...]


async def config_data(folder: Path) -> AsyncGenerator[dict[str, str], None]:
    """The files of a folder by name, and again after each change; none if there is no folder."""
    seen: Stamp | None = None
    while True:
        stamp = _stamp(folder)
        if stamp != seen:
            seen = stamp
            yield read_folder(folder)
        await asyncio.sleep(LOOK_SECONDS)


def read_folder(folder: Path) -> dict[str, str]:
    """The texts of a folder's files; what cannot be read is not there."""
    found = {}
    for path in _files(folder):
        try:
            with path.open("rb") as file:
                found[path.name] = file.read(LARGEST_BYTES).decode("utf-8", "replace")
        except OSError:
            continue
    return found


def _stamp(folder: Path) -> Stamp:
    stamps = []
    for path in _files(folder):
        try:
            stat = path.stat()
        except OSError:
            continue
        stamps.append((path.name, stat.st_mtime_ns, stat.st_ino, stat.st_size))
    return tuple(stamps)


def _files(folder: Path) -> list[Path]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [path for name in names if name[0] != "." and (path := folder / name).is_file()]
