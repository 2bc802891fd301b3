"""The `process_` series that every exporter has: memory, processor time, open files.

They are read from /proc at a scrape; where there is none, there are no such series.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

from quintant.metrics.exposition import Metric
from quintant.metrics.instruments import Counter, Gauge

_PROC = Path("/proc")


class ProcessCollector:
    """The series of this process."""

    def collect(self) -> Iterator[Metric]:
        """The present numbers."""
        try:
            stat = (_PROC / "self/stat").read_bytes().rpartition(b")")[2].split()
            files, most = len(os.listdir(_PROC / "self/fd")), _file_limit()
            booted = _boot_time()
        except OSError:
            return
        tick = os.sysconf("SC_CLK_TCK")
        # Fields of proc(5), counted from the third: the second, a name, may hold spaces.
        memory, pages = float(stat[20]), float(stat[21])
        yield from _gauge("virtual_memory_bytes", "Virtual memory size in bytes.", memory)
        resident = pages * os.sysconf("SC_PAGE_SIZE")
        yield from _gauge("resident_memory_bytes", "Resident memory size in bytes.", resident)
        yield from _gauge(
            "start_time_seconds",
            "Start time of the process since unix epoch in seconds.",
            float(stat[19]) / tick + booted,
        )
        cpu = Counter("process_cpu_seconds", "Total user and system CPU time spent in seconds.")
        cpu.inc(float(stat[11]) / tick + float(stat[12]) / tick)
        yield from cpu.collect()
        yield from _gauge("open_fds", "Number of open file descriptors.", files)
        yield from _gauge("max_fds", "Maximum number of open file descriptors.", most)


def _gauge(name: str, documentation: str, value: float) -> Iterator[Metric]:
    gauge = Gauge(f"process_{name}", documentation)
    gauge.set(value)
    return gauge.collect()


def _boot_time() -> float:
    """When the machine started, in seconds since 1970."""
    for line in (_PROC / "stat").read_bytes().splitlines():
        if line.startswith(b"btime "):
            return float(line.split()[1])
    return 0.0


def _file_limit() -> float:
    """How many files may be open."""
    for line in (_PROC / "self/limits").read_bytes().splitlines():
        if line.startswith(b"Max open files"):
            soft = line.split()[3]
            return math.inf if soft == b"unlimited" else float(soft)
    return math.inf
