"""What a process holds, to be compared before and after: memory, files, objects."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import Self

import psutil

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Usage:
    """What this process holds at one moment."""

    memory: int
    """Resident bytes."""
    files: int
    """Open files and sockets."""
    objects: int
    """Objects that the garbage collector tracks, after it has run."""

    @classmethod
    def now(cls) -> Self:
        gc.collect()
        process = psutil.Process()
        return cls(process.memory_info().rss, process.num_fds(), len(gc.get_objects()))
