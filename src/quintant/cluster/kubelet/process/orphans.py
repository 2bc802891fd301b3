"""cleanupOrphanedPodDirs: ends the processes and folders that an earlier kubelet left.

Everything that a kubelet starts carries its mark in its environment, and every folder of it
is named so. A mark is the process id with its start time, which no second process ever has, and the
namespace in which it has that id: whoever carries the mark of a process that is gone is an orphan.
Only Linux lets us look.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from quintant.cluster.host.remove_tree import discard_folder

AGENT = "QUINTANT_AGENT"
"""The environment variable with the mark of the kubelet that started a process."""
CONTAINER = "QUINTANT_CONTAINER"
"""The environment variable with the id of the container that a process belongs to."""
PREFIX = "node-"
"""What the names of a kubelet's folders begin with."""
_PROC = Path("/proc")
_START_FIELD = 19
"""Of /proc/PID/stat, counted from the state: when the process started, in ticks since boot."""


def process_mark() -> str:
    """The mark of this process."""
    return f"{os.getpid()}-{_start(os.getpid()) or 0}-{_namespace(os.getpid())}"


def is_alive(mark: str) -> bool:
    """Whether the process that a mark names still runs; of another namespace nobody can tell."""
    pid, start, namespace, *_ = (*mark.split("-"), "", "")
    # Marks of earlier versions name no namespace: they were made in this one.
    if not (_PROC / "self").exists() or namespace not in ("", _namespace(os.getpid())):
        return True
    return pid.isdigit() and _start(int(pid)) == (int(start) if start.isdigit() else -1)


def end_marked(name: str, wanted: Callable[[str], bool]) -> list[int]:
    """Kill the processes of ours whose environment has a variable as wanted; who was killed."""
    return [pid for pid, environ in _environments() if wanted(environ.get(name, ""))
            and end_process(pid, name, wanted)]  # fmt: skip


def end_process(pid: int, name: str, wanted: Callable[[str], bool]) -> bool:
    """Kill a process, if its environment has a variable as wanted; whether it was.

    Its id may be another's by now. A descriptor stays with one process: whoever is found marked
    once it is open is the one that is killed.
    """
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        found = wanted(_variables(_PROC / str(pid)).get(name, ""))
        if found:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        return found
    except OSError:
        return False
    finally:
        os.close(handle)


def reap(folders: Path) -> list[int]:
    """End the processes and remove the folders of kubelets that are no more; who was ended."""
    ended = end_marked(AGENT, lambda mark: bool(mark) and not is_alive(mark))
    for folder in folders.glob(f"{PREFIX}*"):
        if not is_alive(folder.name.removeprefix(PREFIX)):
            discard_folder(folder)
    return ended


def _environments() -> Iterator[tuple[int, dict[str, str]]]:
    """Every other process of this user, with what it was started with."""
    for entry in _PROC.glob("[0-9]*"):
        pid = int(entry.name)
        if pid == os.getpid():
            continue
        with suppress(OSError):
            if entry.stat().st_uid == os.getuid():
                yield pid, _variables(entry)


def _variables(entry: Path) -> dict[str, str]:
    raw = (entry / "environ").read_bytes().decode(errors="replace")
    pairs = (text.partition("=") for text in raw.split("\0") if text.startswith("QUINTANT"))
    return {name: value for name, _, value in pairs}


def _namespace(pid: int) -> str:
    """In which process ids mean what they mean to a process."""
    try:
        return str((_PROC / str(pid) / "ns" / "pid").stat().st_ino)
    except OSError:
        return ""


def _start(pid: int) -> int | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    # The name of the program, in parentheses, may hold anything.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] == "Z" else int(fields[_START_FIELD])
