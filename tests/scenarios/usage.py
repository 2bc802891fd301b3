"""What a process holds, to be compared before and after: memory, files, objects."""

from __future__ import annotations

import gc
import sys
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
    """Blocks of memory that the interpreter has given to objects, garbage left out."""

    @classmethod
    def now(cls) -> Self:
        gc.collect()
        process = psutil.Process()
        # Not by `gc.get_objects()`: in a process that ran thousands of tests its list takes
        # megabytes, and what it took the second time stays with the process.
        return cls(process.memory_info().rss, process.num_fds(), sys.getallocatedblocks())
