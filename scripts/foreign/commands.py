"""Running a command of minutes with progress that never falls silent.

What it says is read line by line by a `Tally`; a line of progress is reported every few seconds,
also while the command says nothing. It runs with low priority and on a leash: it must neither slow
the machine's other work nor outlive us.
"""

import os
import select
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from quintant.die_with_parent import die_with_parent

PROGRESS_SECONDS = 5.0
NICENESS = 10
TAIL_LINES = 20

_CHUNK_BYTES = 65_536


class Tally(Protocol):
    """What a command has said so far."""

    @property
    def complaints(self) -> deque[str]:
        """The last lines that are not mere progress."""

    def feed(self, line: str) -> None:
        """Count one line."""

    def text(self, elapsed: float) -> str:
        """Return the counts and the elapsed time, for a progress line."""


@dataclass(frozen=True)
class Command:
    """What to run, and where."""

    arguments: Sequence[str]
    folder: Path
    environ: Mapping[str, str]

    def run(
        self, tally: Tally, progress: Callable[[float], None], output: IO[str] | None = None
    ) -> int:
        """Run it to its end and return its exit code.

        The tally reads standard error; also standard output, unless that goes to a file.
        """
        with self._spawned(output) as process:
            try:
                _read(process, output is None, tally, progress)
            except BaseException:
                # Ctrl-C included: leaving the with statement waits for the process, so end it
                # first.
                process.terminate()
                raise
            return process.wait()

    def _spawned(self, output: IO[str] | None) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            die_with_parent(("nice", "-n", str(_lowering()), *self.arguments)),
            cwd=self.folder,
            env=dict(self.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if output is None else output,
            stderr=subprocess.STDOUT if output is None else subprocess.PIPE,
        )


def _lowering() -> int:
    """What `nice` adds to our own: twice as much would mean to wait for an idle machine."""
    return max(0, NICENESS - os.nice(0))


def minutes(elapsed: float) -> str:
    """Return a time as in 1:05."""
    whole, seconds = divmod(int(elapsed), 60)
    return f"{whole}:{seconds:02}"


def _read(
    process: subprocess.Popen[bytes],
    merged: bool,
    tally: Tally,
    progress: Callable[[float], None],
) -> None:
    source = process.stdout if merged else process.stderr
    assert source is not None
    stream = source.fileno()
    started = reported = time.monotonic()
    rest = b""

    while True:
        if select.select([stream], [], [], PROGRESS_SECONDS)[0]:
            chunk = os.read(stream, _CHUNK_BYTES)
            if not chunk:
                return
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                tally.feed(line.decode(errors="replace"))
        if (now := time.monotonic()) - reported >= PROGRESS_SECONDS:
            progress(now - started)
            reported = now
