"""Running the Go command with progress that never falls silent.

`go build -v` names each package it has compiled and each module it fetches; `Tally` counts them.
A line is reported every few seconds, also while Go links and says nothing. Go runs with low
priority and on a leash: it must neither slow the machine's other work nor outlive us.
"""

import os
import select
import shutil
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from envtest.errors import EnvtestError, Report
from envtest.process import TAIL_LINES
from quintant.cluster.kubelet.process.die_with_parent import die_with_parent

PROGRESS_SECONDS = 5.0
NICENESS = 10

_CHUNK_BYTES = 65_536


@dataclass
class Tally:
    """What Go has said so far on standard error."""

    modules: int = 0
    packages: int = 0
    complaints: deque[str] = field(default_factory=lambda: deque(maxlen=TAIL_LINES))

    def feed(self, line: str) -> None:
        """Count one line: a fetched module, a compiled package (a bare path), or a complaint."""
        if line.startswith("go: downloading "):
            self.modules += 1
        elif " " in line:
            self.complaints.append(line)
        else:
            self.packages += 1

    def text(self, elapsed: float) -> str:
        """Return the counts and the elapsed time, for a progress line."""
        minutes, seconds = divmod(int(elapsed), 60)
        fetched = f"{self.modules} modules fetched, " if self.modules else ""
        return f"{fetched}{self.packages} packages compiled, {minutes}:{seconds:02}"


@dataclass(frozen=True)
class Go:
    """The Go command, as found on the path."""

    program: str
    environ: Mapping[str, str]
    report: Report

    @classmethod
    def find(cls, environ: Mapping[str, str], report: Report) -> "Go":
        """Return the Go command of the given environment, or say how to do without."""
        program = shutil.which("go", path=environ.get("PATH", ""))
        if program is None:
            raise EnvtestError(
                "cannot build etcd and kube-apiserver",
                why="there is no go command on the PATH",
                hint="install Go, or set KUBEBUILDER_ASSETS to a folder with the binaries",
            )
        # No C compiler needed, and no workspace of the user's around our module.
        return cls(program, {**environ, "CGO_ENABLED": "0", "GOWORK": "off"}, report)

    def run(self, *arguments: str, folder: Path, title: str) -> str:
        """Run Go in a folder and return its standard output; the title begins progress lines."""
        command = ("nice", "-n", str(NICENESS), self.program, *arguments)
        tally = Tally()
        with (
            tempfile.TemporaryFile("w+") as output,
            _spawned(command, folder=folder, environ=self.environ, output=output) as process,
        ):
            _follow(process, tally, lambda elapsed: self.report(f"{title}: {tally.text(elapsed)}"))
            if process.wait() != 0:
                raise _failure(title, tally, process.returncode)
            output.seek(0)
            return output.read()


def _spawned(
    command: Sequence[str], *, folder: Path, environ: Mapping[str, str], output: IO[str]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        die_with_parent(command),
        cwd=folder,
        # Where the caller will remove what an interrupted build leaves.
        env={**environ, "GOTMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.PIPE,
    )


def _follow(
    process: subprocess.Popen[bytes], tally: Tally, progress: Callable[[float], None]
) -> None:
    try:
        _read(process, tally, progress)
    except BaseException:
        # Ctrl-C included: leaving the with statement waits for the process, so end it first.
        process.terminate()
        raise


def _read(
    process: subprocess.Popen[bytes], tally: Tally, progress: Callable[[float], None]
) -> None:
    assert process.stderr is not None
    stream = process.stderr.fileno()
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


def _failure(title: str, tally: Tally, code: int) -> EnvtestError:
    last = tally.complaints[-1] if tally.complaints else f"go ended with code {code}"
    error = EnvtestError(
        f"failed {title}",
        why=last,
        hint="check that Go is recent enough and can fetch modules; "
        "or set KUBEBUILDER_ASSETS to a folder with the binaries",
    )
    error.add_note("\n".join(("--- the last lines of go:", *tally.complaints)))
    return error
