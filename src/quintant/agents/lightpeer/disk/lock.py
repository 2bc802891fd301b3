"""One peer per directory: a lock that is held as long as the process lives.

The kernel holds it and releases it when the process ends, however it ends: nothing is to be cleaned
up. The file says who holds it, for a process that is refused.
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from quintant.agents.lightpeer.chain.block import LOCK

_HOLDER_BYTES = 1000


class Locked(OSError):
    """Another process has the directory; the text says who, and what to do."""


@contextmanager
def locked(path: Path, address: str) -> Iterator[None]:
    """Have a directory for this process alone; Locked if another one has it."""
    path.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        if not _taken(descriptor, fcntl.LOCK_EX):
            raise Locked(_refusal(path, _holder(descriptor)))
        who = f"process {os.getpid()} on {socket.gethostname()}, a peer at {address}\n"
        with suppress(OSError):  # A full disk can be read, and the lock is held without a name.
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, who.encode(), 0)
        yield
    finally:
        os.close(descriptor)


def holder(path: Path) -> str:
    """Who has a directory at this moment; empty if no process has."""
    try:
        descriptor = os.open(path / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return ""
    try:
        return "" if _taken(descriptor, fcntl.LOCK_SH) else _holder(descriptor)
    finally:
        os.close(descriptor)


def _taken(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(descriptor: int) -> str:
    text = os.pread(descriptor, _HOLDER_BYTES, 0).decode(errors="replace").strip()
    return text or "another process"


def _refusal(path: Path, who: str) -> str:
    return (
        f"cannot run a lightpeer on {path}\n"
        f"because: {who} has it\n"
        "try: another directory with -repo, or end that process first"
    )
