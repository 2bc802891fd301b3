"""k9s beside the console: the same list in a pseudo terminal, and the memory that it takes."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from foreign.catalogue import K9S
from foreign.errors import ProgramError
from processes.usage import MEGABYTE, usage

ROWS, COLUMNS = 50, 200
SHOWN_SECONDS = 60.0
"""k9s lists first and draws then; who has not drawn the list by now does not draw it."""
KEPT_BYTES = 64 * 1024
"""The title is somewhere in what was drawn last."""
ESCAPE = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]")
CONFIG = "k9s:\n  skipLatestRevCheck: true\n"
"""Without it, it asks its makers for a newer version."""


def k9s_memory(
    kubeconfig: Path, devices: int, folder: Path, rest: Callable[[], None]
) -> float | None:
    """Resident megabytes of k9s that shows so many devices, after a rest; None without it."""
    try:
        program = K9S.provide(os.environ)
    except ProgramError:
        return None
    with _terminal() as (leader, follower), _k9s(program, kubeconfig, folder, follower) as child:
        if not _drawn(leader, f"[{devices}]".encode()):
            return None
        rest()
        return usage(child.pid).rss / MEGABYTE


@contextmanager
def _terminal() -> Iterator[tuple[int, int]]:
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    try:
        yield leader, follower
    finally:
        os.close(follower)
        os.close(leader)


@contextmanager
def _k9s(
    program: Path, kubeconfig: Path, folder: Path, terminal: int
) -> Iterator[subprocess.Popen[bytes]]:
    (folder / "config.yaml").write_text(CONFIG)
    command: list[str | Path] = [
        program,
        f"--kubeconfig={kubeconfig}",
        "--all-namespaces",
        "--readonly",
    ]
    child = subprocess.Popen(
        [*command, "--command=edgedevices", f"--logFile={folder / 'k9s.log'}"],
        env={**os.environ, "K9S_CONFIG_DIR": str(folder), "TERM": "xterm-256color"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def _drawn(leader: int, title: bytes) -> bool:
    """Read what is drawn, for as long as it is; whether a title was among it in time."""
    shown = threading.Event()
    threading.Thread(target=_read, args=(leader, title, shown), daemon=True).start()
    return shown.wait(SHOWN_SECONDS)


def _read(leader: int, title: bytes, shown: threading.Event) -> None:
    drawn = b""
    while True:
        try:
            drawn = (drawn + os.read(leader, KEPT_BYTES))[-KEPT_BYTES:]
        except OSError:
            return
        if title in ESCAPE.sub(b"", drawn):
            shown.set()
