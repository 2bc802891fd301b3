"""What a process has used, as the system counts it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU seconds of user and system; resident bytes now and at most."""

    cpu: float
    rss: int
    peak: int


def usage(pid: int) -> Usage:
    """What one process has used so far."""
    process = psutil.Process(pid)
    times = process.cpu_times()
    rss = process.memory_info().rss
    return Usage(times.user + times.system, rss, _peak(pid) or rss)


def cpu(pids: list[int]) -> float:
    """The CPU seconds of several processes together."""
    return sum(usage(pid).cpu for pid in pids)


def _peak(pid: int) -> int:
    """The most memory a process ever had, where the system remembers it (Linux)."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    found = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(found[0]) * 1024 if found else 0


def forget_peak() -> None:
    """Let the peak of this process begin anew, where the system can (Linux)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
