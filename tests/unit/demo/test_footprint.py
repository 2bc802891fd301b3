"""What the demo takes is told of all its processes."""

from __future__ import annotations

import os

from quintant.cluster.kubelet.process.proc_stats import ProcStat, read_processes
from quintant.demo.footprint import MEGABYTE, Footprint, footprint


def _process(parent: int, megabytes: int, session: int = 0) -> ProcStat:
    return ProcStat(parent, session, 0.0, megabytes * MEGABYTE)


def test_what_was_started_counts_and_neighbours_do_not() -> None:
    table = {1: _process(0, 5), 7: _process(1, 60), 8: _process(7, 40), 9: _process(8, 20, 8)}
    assert footprint(table, 7) == Footprint(3, 120 * MEGABYTE)
    assert str(footprint(table, 7)) == "3 processes, 120 MB"


def test_nothing_is_told_where_the_system_tells_nothing() -> None:
    assert footprint({}, 7) is None


def test_this_process_is_found() -> None:
    found = footprint(read_processes(), os.getpid())
    assert found is not None
    assert found.memory > MEGABYTE
