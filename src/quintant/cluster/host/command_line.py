"""What `ps` shows of this process: its command line, without the paths that lead to keys.

Every process of a machine can read the command line of every other one, programs in pods among
them. The kubeconfig of an administrator need not be found that way. Only Linux lets us change it.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from pathlib import Path

STAR = ord("*")
_STAT, _CMDLINE = Path("/proc/self/stat"), Path("/proc/self/cmdline")
_ARG_START_FIELD = 45
"""Of /proc/PID/stat, counted from the state: where the command line is in memory."""


def hide_arguments(values: Collection[str]) -> None:
    """Make arguments, or what follows `=` in them, unreadable in this process's command line."""
    hidden = [value.encode() for value in values if value]
    if sys.platform != "linux" or not hidden:
        return
    import ctypes  # Here, for most processes do without.

    try:
        line = _CMDLINE.read_bytes()
        start = int(_STAT.read_text().rpartition(")")[2].split()[_ARG_START_FIELD])
    except (OSError, ValueError, IndexError):
        return
    for at, size in hidden_spans(line, hidden):
        # Python has copies of all arguments: nobody else reads this memory.
        ctypes.memset(start + at, STAR, size)


def hidden_spans(line: bytes, values: Collection[bytes]) -> Iterator[tuple[int, int]]:
    """Where in a command line values stand, and how long they are; pure."""
    at = 0
    for word in line.split(b"\0"):
        for value in values:
            if word == value or word.endswith(b"=" + value):
                yield at + len(word) - len(value), len(value)
                break
        at += len(word) + 1
