"""What the demo takes of this machine: itself, and every process that it started."""

from __future__ import annotations

from typing import NamedTuple

from quintant.cluster.kubelet.process.proc_stats import ProcessTrees, Table

MEGABYTE = 1024 * 1024


class Footprint(NamedTuple):
    """Processes and their resident memory; pages that they share count for each."""

    processes: int
    memory: int

    def __str__(self) -> str:
        return f"{self.processes} processes, {self.memory // MEGABYTE} MB"


def footprint(table: Table, root: int) -> Footprint | None:
    """Of a process and all that it started; None where the system does not tell."""
    members = ProcessTrees(table).tree(root)
    if not members:
        return None
    return Footprint(len(members), sum(table[pid].memory for pid in members))
