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
    # Each thread has those that it has started itself; Go starts processes from any of its own.
    return [int(each) for text in _of_threads(pid, "children") for each in text.split()]


def _states(pid: int) -> Iterator[str]:
    # The name of the program, in parentheses, may hold anything.
    return (text.rpartition(")")[2].split()[0] for text in _of_threads(pid, "stat"))


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
