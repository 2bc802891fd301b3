"""How many processes: a number, or as many as this program may use processors.

In a container that is its limit, rounded up, and not the machine it happens to run on.
"""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

from quintant.core.errors import ConfigError
from quintant.wire.digits import parse_digits

AUTO = "auto"
MOST_PROCESSES = 64
"""Each of them receives every event: more of them belong to more machines."""
_CGROUP_V2 = Path("/sys/fs/cgroup/cpu.max")
_CGROUP_V1 = (
    Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
    Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
)


def parse_count(text: str, processors: int) -> int:
    """What `--processes` means where there are so many processors; ConfigError if it is nothing."""
    number = max(1, min(processors, MOST_PROCESSES)) if text == AUTO else parse_digits(text)
    if number is None or not 1 <= number <= MOST_PROCESSES:
        raise ConfigError(
            f"{text!r} is no number of processes",
            because=f"it must be a number from 1 to {MOST_PROCESSES}, or {AUTO}",
            hint=f"--processes={AUTO}, which is one per processor",
        )
    return number


def available_processors() -> int:
    """How many processors this program may use."""
    if hasattr(os, "sched_getaffinity"):
        found = len(os.sched_getaffinity(0))
    else:
        found = os.cpu_count() or 1
    return limited(found, _cgroup_limit())


def limited(processors: int, limit: str) -> int:
    """Processors under a cgroup's limit: `QUOTA PERIOD` in microseconds, `max` or -1 for none."""
    words = [parse_digits(word) for word in limit.split()]
    match words:
        case [int(quota), int(period)] if quota and period:
            return max(1, min(processors, math.ceil(quota / period)))
        case _:
            return processors


def _cgroup_limit() -> str:
    with suppress(OSError):
        return _CGROUP_V2.read_text()
    with suppress(OSError):
        return " ".join(path.read_text().strip() for path in _CGROUP_V1)
    return ""
