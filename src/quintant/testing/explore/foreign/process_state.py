"""Whether a process, or one that it started, has something to do at this moment, as Linux says.

A program that loads modules, or waits for a processor, writes nothing and is not quiet all the
same.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

RUNNABLE = frozenset("RD")
"""States of threads: they run or could, or wait for a disk."""
_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
_USER_TIME, _SYSTEM_TIME = 11, 12
"""Of the fields of a thread's `stat` behind its name."""


def is_runnable(pid: int) -> bool:
    """Whether a thread of a process or of its descendants is runnable; False where nobody knows."""
    return any(state in RUNNABLE for each in descendants(pid) for state in _states(each))


def processor_seconds(pid: int) -> float:
    """How much of the processors the descendants of a process that are there have had."""
    return sum(sum(map(_processor_seconds, _stats(each))) for each in descendants(pid))


def descendants(pid: int) -> Iterator[int]:
    """What a process has started, and what that has."""
    for child in _children(pid):
        yield child
        yield from descendants(child)


def _children(pid: int) -> list[int]:
    # Each thread has those that it has started itself; Go starts processes from any of its own.
    return [int(each) for text in _of_threads(pid, "children") for each in text.split()]


def _states(pid: int) -> Iterator[str]:
    return (fields[0] for fields in _stats(pid))


def _processor_seconds(fields: list[str]) -> float:
    return (int(fields[_USER_TIME]) + int(fields[_SYSTEM_TIME])) / _TICKS


def _stats(pid: int) -> Iterator[list[str]]:
    """For each thread what `stat` has behind the name: that, in parentheses, may hold anything."""
    return (text.rpartition(")")[2].split() for text in _of_threads(pid, "stat"))


def _of_threads(pid: int, name: str) -> Iterator[str]:
    """What a file says of each thread of a process; nothing of one that has gone."""
    try:
        tasks = list((_PROC / str(pid) / "task").iterdir())
    except OSError:
        return
    for task in tasks:
        try:
            yield (task / name).read_text()
        except OSError:
            continue
