"""A Python program in an environment of its own: named by the user, in the cache, or installed.

Nothing of it is ever imported by ours: what is handed out is the Python of that environment, to be
started as a process. Another list of requirements, or another Python, is another environment; so
is another machine, as environments cannot be moved far.
"""

import re
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from foreign.cache import cache_folder, locked, workshop
from foreign.commands import TAIL_LINES, Command, minutes
from foreign.errors import ProgramError, Report, announce
from foreign.go_program import given_program, variable

_PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
_DIGEST_BYTES = 4
_COLLECTED = re.compile(r"Collecting (\S+)")


@dataclass
class PipTally:
    """What pip has said so far."""

    packages: int = 0
    complaints: deque[str] = field(default_factory=lambda: deque(maxlen=TAIL_LINES))

    def feed(self, line: str) -> None:
        """Count one line: a package that is fetched, or a complaint."""
        if _COLLECTED.match(line):
            self.packages += 1
        elif line.startswith(("ERROR", "Error")):
            self.complaints.append(line)

    def text(self, elapsed: float) -> str:
        """Return the count and the elapsed time, for a progress line."""
        return f"{self.packages} packages fetched, {minutes(elapsed)}"


@dataclass(frozen=True)
class PythonProgram:
    """What has to be installed for one program."""

    name: str
    requirements: Sequence[str]
    """As in a file of requirements, each with its version."""
    complete: bool = False
    """Whether the requirements are all there is to install: what they ask for is left out."""

    @property
    def variable(self) -> str:
        """The variable that names a Python with everything, where it cannot be installed."""
        return variable(self.name)

    def locate(self, environ: Mapping[str, str]) -> Path | None:
        """Return the Python that has the program, or None where it must be installed."""
        if given := environ.get(self.variable):
            return given_program(self.variable, given)
        python = self._folder(environ) / "environment" / "bin" / "python"
        return python if python.exists() else None

    def provide(self, environ: Mapping[str, str], *, report: Report = announce) -> Path:
        """Return the Python that has the program; install it first where it is missing."""
        return self.locate(environ) or self._made(environ, report)

    def _folder(self, environ: Mapping[str, str]) -> Path:
        text = "\n".join((_PYTHON, str(self.complete), *self.requirements))
        digest = blake2b(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()
        return cache_folder(environ) / "programs" / f"{self.name}-{_PYTHON}-{digest}"

    def _made(self, environ: Mapping[str, str], report: Report) -> Path:
        folder = self._folder(environ)
        finished = folder / "environment"
        with locked(folder, report):
            # Asked again under the lock: another process may have made it while we waited.
            if not finished.exists():
                with workshop(folder / "installing") as work:
                    self._install(work, environ, report)
                    # Only `bin/python` is used afterwards, which does not mind the rename.
                    (work / "environment").rename(finished)
        return finished / "bin" / "python"

    def _install(self, work: Path, environ: Mapping[str, str], report: Report) -> None:
        started = time.monotonic()
        report(f"installing {self.name} into {work.parent}")
        listed = work / "requirements.txt"
        listed.write_text("".join(f"{each}\n" for each in self.requirements))
        made = work / "environment"
        # Our own pip installs into it: one of its own would take longer than all the rest.
        venv = (sys.executable, "-m", "venv", "--without-pip", str(made))
        self._run(venv, work, environ, report, "its virtual environment could not be made")
        pip = (sys.executable, "-m", "pip", "--python", str(made / "bin" / "python"), "install")
        quiet = ("--disable-pip-version-check", "--progress-bar", "off", "--no-input")
        alone = ("--no-deps",) if self.complete else ()
        line = (*pip, *quiet, *alone, "-r", str(listed))
        self._run(line, work, environ, report, "pip could not install it")
        report(f"installed {self.name} in {time.monotonic() - started:.0f} s")

    def _run(
        self,
        arguments: Sequence[str],
        work: Path,
        environ: Mapping[str, str],
        report: Report,
        why: str,
    ) -> None:
        tally = PipTally()
        # What is set for our Python is not meant for another.
        clean = {key: value for key, value in environ.items() if not key.startswith("PYTHON")}
        command = Command(arguments, work, clean)
        code = command.run(
            tally, lambda elapsed: report(f"installing {self.name}: {tally.text(elapsed)}")
        )
        if code != 0:
            raise self._failure(why, tally, code)

    def _failure(self, why: str, tally: PipTally, code: int) -> ProgramError:
        last = tally.complaints[-1] if tally.complaints else f"code {code}"
        error = ProgramError(
            f"cannot install {self.name}",
            why=f"{why}: {last}",
            hint="check that Python has venv and that pip reaches a package index; "
            f"or set {self.variable} to a Python that has it",
        )
        error.add_note("\n".join(("--- the last lines of pip:", *tally.complaints)))
        return error


def requirements(path: Path) -> tuple[str, ...]:
    """Return the lines of a file of requirements that are no comments."""
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return tuple(line for line in lines if line)
