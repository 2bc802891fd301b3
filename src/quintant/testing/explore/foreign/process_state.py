"""Whether a process, or one that it started, has something to do at this moment, as Linux says.

A program that loads modules, or waits for a processor, writes nothing and is not quiet all the
same.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

RUNNABLE = frozenset("RD")
"""States of threads: they run or could, or wait for a disk."""
_PROC = Path("/proc")


def is_runnable(pid: int) -> bool:
    """Whether a thread of a process or of its descendants is runnable; False where nobody knows."""
    return any(state in RUNNABLE for each in descendants(pid) for state in _states(each))


def descendants(pid: int) -> Iterator[int]:
    """What a process has started, and what that has."""
    for child in _children(pid):
        yield child
        yield from descendants(child)


def _children(pid: int) -> list[int]:
    try:
        text = (_PROC / str(pid) / "task" / str(pid) / "children").read_text()
    except OSError:
        return []
    return [int(each) for each in text.split()]


def _states(pid: int) -> Iterator[str]:
    try:
        tasks = list((_PROC / str(pid) / "task").iterdir())
    except OSError:
        return
    for task in tasks:
        try:
            text = (task / "stat").read_text()
        except OSError:
            continue
        # The name of the program, in parentheses, may hold anything.
        yield text.rpartition(")")[2].split()[0]
