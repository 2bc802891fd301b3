"""Running the Go command: `go build -v` names what it fetches and each package it compiles."""

import shutil
import tempfile
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from foreign.commands import TAIL_LINES, Command, minutes
from foreign.errors import ProgramError, Report


@dataclass
class GoTally:
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
        fetched = f"{self.modules} modules fetched, " if self.modules else ""
        return f"{fetched}{self.packages} packages compiled, {minutes(elapsed)}"


@dataclass(frozen=True)
class Go:
    """The Go command, as found on the path."""

    program: str
    environ: Mapping[str, str]
    report: Report
    instead: str
    """What to do without Go; it ends the hints of errors."""

    @classmethod
    def find(cls, environ: Mapping[str, str], report: Report, *, what: str, instead: str) -> "Go":
        """Return the Go command of the given environment, or say how to do without.

        `what` is to be built; `instead` says in the imperative what to do if it cannot be.
        """
        program = shutil.which("go", path=environ.get("PATH", ""))
        if program is None:
            raise ProgramError(
                f"cannot build {what}",
                why="there is no go command on the PATH",
                hint=f"install Go, or {instead}",
            )
        # No C compiler needed, and no workspace of the user's around our module.
        return cls(program, {**environ, "CGO_ENABLED": "0", "GOWORK": "off"}, report, instead)

    def run(self, *arguments: str, folder: Path, title: str) -> str:
        """Run Go in a folder and return its standard output; the title begins progress lines."""
        # Where the caller will remove what an interrupted build leaves.
        environ = {**self.environ, "GOTMPDIR": str(folder)}
        command = Command((self.program, *arguments), folder, environ)
        tally = GoTally()
        with tempfile.TemporaryFile("w+") as output:
            code = command.run(
                tally, lambda elapsed: self.report(f"{title}: {tally.text(elapsed)}"), output
            )
            if code != 0:
                raise self._failure(title, tally, code)
            output.seek(0)
            return output.read()

    def _failure(self, title: str, tally: GoTally, code: int) -> ProgramError:
        last = tally.complaints[-1] if tally.complaints else f"go ended with code {code}"
        error = ProgramError(
            f"failed {title}",
            why=last,
            hint=f"check that Go is recent enough and can fetch modules; or {self.instead}",
        )
        error.add_note("\n".join(("--- the last lines of go:", *tally.complaints)))
        return error
