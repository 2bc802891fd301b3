"""What of a cluster is still on the machine after its end: there must be nothing.

It is found by what is the cluster's alone: its folder, its cgroups, and the processes that
descended from the one that made it. Namespaces have no names, and are there as long as processes
are in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

from realcluster.layout import CLUSTER
from realcluster.nodes import cgroups

_MOUNTS = Path("/proc/self/mounts")
_ESCAPED = {"\\040": " ", "\\011": "\t", "\\012": "\n", "\\134": "\\"}
"""How the kernel writes what would end a field."""


def descendants() -> tuple[psutil.Process, ...]:
    """Every process that this one and its children started, containers' included."""
    return tuple(psutil.Process().children(recursive=True))


def left_behind(
    folder: Path, processes: Iterable[psutil.Process], cgroup: str = CLUSTER
) -> tuple[str, ...]:
    """What is there of a cluster that had this folder and these processes."""
    return (
        *((f"folder {folder}",) if folder.exists() else ()),
        *(f"mount {each}" for each in _mounts(folder)),
        *(f"cgroup {each}" for each in cgroups.tops(cgroup) if each.exists()),
        *(f"process {each.pid}" for each in processes if _runs(each)),
    )


def _mounts(folder: Path) -> Iterator[str]:
    for line in _MOUNTS.read_text().splitlines():
        target = line.split(" ")[1]
        for escaped, meant in _ESCAPED.items():
            target = target.replace(escaped, meant)
        if Path(target).is_relative_to(folder):
            yield target


def _runs(process: psutil.Process) -> bool:
    """Whether it is the same process still; a dead one that nobody reaped holds nothing."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
