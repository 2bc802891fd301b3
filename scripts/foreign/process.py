"""Child processes that cannot be left behind, their logs, ports and folders.

Every child dies with its parent (`quintant.die_with_parent`): the kernel
kills it when the thread that started it dies, so start a cluster from a thread that outlives it;
pytest's main thread does. Children are signalled by their own pid only. A folder is locked by the
process that uses it; a process that was killed leaves its folder unlocked, and the next one removes
it.
"""

import fcntl
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path

from foreign.commands import TAIL_LINES
from foreign.errors import ProgramError
from quintant.die_with_parent import die_with_parent

LOOPBACK = "127.0.0.1"

# How long a child may take to end itself before it is killed: its data is thrown away anyway.
GRACE_SECONDS = 5.0

# Below the range from which Linux takes ports for outgoing connections, so that no connection
# takes a port between our choice and the child's bind.
_PORTS = range(20_000, 30_000)
# How many of them a process may take before it could meet the one that was started next.
_SHARE = 16
_PREFIX = "quintant-foreign-"
_LOCK = "lock"


class Child:
    """A program, started at once, with its output in a log file."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self.name = Path(command[0]).name
        self._log = log
        with log.open("wb") as output:
            # A session of its own: Ctrl-C reaches us alone, and we stop children in order.
            self._process = subprocess.Popen(
                die_with_parent(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The pid of the program itself."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """With what the program ended; none as long as it runs."""
        return self._process.poll()

    def check(self) -> None:
        """Raise, with the end of its log, if the program has ended."""
        if self.code is not None:
            raise self.failure(f"it ended with code {self.code}")

    def failure(self, why: str) -> ProgramError:
        """Return an error about this program that carries the end of its log as a note."""
        error = ProgramError(
            f"cannot run {self.name}",
            why=why,
            hint=f"read the end of its log and check the flags given to {self.name}",
        )
        error.add_note(f"--- the last lines of {self.name}:\n{self.tail()}")
        return error

    def stop(self) -> None:
        """End the program: ask first, kill after GRACE_SECONDS."""
        self._process.terminate()
        try:
            self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def kill(self) -> None:
        """End the program at once, without asking."""
        self._process.kill()
        self._process.wait()

    def tail(self) -> str:
        """The end of its log."""
        lines = self._log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-TAIL_LINES:])


def free_ports(count: int) -> tuple[int, ...]:
    """Return distinct loopback ports that nobody listens on."""
    return tuple(islice(filter(_free, _candidates), count))


@contextmanager
def scratch(parent: Path) -> Iterator[Path]:
    """Lend a folder in the parent; remove it afterwards, and those of killed processes now."""
    _sweep(parent)

    # Named so that no sweep sees it until it is locked.
    hidden = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}", dir=parent))
    with (hidden / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = hidden.rename(parent / hidden.name.removeprefix("."))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _rotated() -> Iterator[int]:
    """Every port, over and over, from a place of this process's own.

    Clusters that several processes start at once do not choose the same ports before they bind
    them, nor does one process offer a port twice.
    """
    first = os.getpid() * _SHARE % len(_PORTS)
    return cycle((*_PORTS[first:], *_PORTS[:first]))


_candidates = _rotated()


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def _sweep(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        if _abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _abandoned(folder: Path) -> bool:
    try:
        with (folder / _LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
