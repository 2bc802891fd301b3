"""A program by Go module and version: named by the user, in the cache, or built into it.

It is built from the published module and nothing else, as `go install module@version` would, but
with the replacements that the module asks for (`gomod`).
"""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from foreign.cache import cache_folder, locked, workshop
from foreign.errors import ProgramError, Report, announce
from foreign.go import Go
from foreign.gomod import Module, empty_folder, linker_flags, main_module
from foreign.source_change import SourceChange, changed_copy, digest

_COPY = "source"
"""The folder of a changed copy, beside the build."""
_TEST_IMPORTS = '{{join .TestImports " "}}'
"""What tests inside a package import, in the words of `go list`."""


@dataclass(frozen=True)
class GoProgram:
    """Where the source of one program is."""

    name: str
    module: str
    version: str
    package: str = ""
    """Of its main function; the module itself, if there is none."""
    newer: tuple[str, ...] = ()
    """Modules that it needs in a newer version than it asks for, as `path version`."""
    instead: tuple[tuple[str, str], ...] = ()
    """Modules that are no longer to be had, and those that stand for them, as `path version`; an
    empty module where there is none."""
    changes: tuple[SourceChange, ...] = ()
    """Where it is built from other text than was published."""
    main: str = ""
    """A main package of ours that chooses from the module, in place of one of its own."""
    source_path: str = ""
    """Under which the module is published, where it calls itself something else."""
    sums: tuple[str, ...] = ()
    """Lines of go.sum for a module that the checksum database does not know."""
    tests: bool = False
    """Its program is the tests of the package, as `go test -c` makes it."""

    @property
    def variable(self) -> str:
        """The variable that names the program, for a machine that cannot build it."""
        return variable(self.name)

    def locate(self, environ: Mapping[str, str]) -> Path | None:
        """Return the program, or None where it must be built."""
        if given := environ.get(self.variable):
            return given_program(self.variable, given)
        program = self._folder(environ) / "bin" / self.name
        return program if os.access(program, os.X_OK) else None

    def provide(self, environ: Mapping[str, str], *, report: Report = announce) -> Path:
        """Return the program; build it first where it is missing."""
        return self.locate(environ) or self._made(environ, report)

    def source(self, environ: Mapping[str, str], *, report: Report = announce) -> Path:
        """Return the folder of its module as it was published, in the cache of Go."""
        with tempfile.TemporaryDirectory() as folder:
            self._pin(Path(folder))
            return Path(self._download(self._go(environ, report), Path(folder))["Dir"])

    def build(self, go: Go, target: Path) -> None:
        """Build into a file, in whose folder Go may leave what it likes."""
        work, started = target.parent, time.monotonic()
        self._pin(work)
        module = self._describe(go, work)
        copy = _COPY if self.changes else ""
        (work / "go.mod").write_text(main_module(module, self.newer, copy, self.instead))
        for old in (old for old, new in self.instead if not new):
            empty = work / empty_folder(old)
            empty.mkdir(parents=True)
            (empty / "go.mod").write_text(f"module {old}\n")
        published = Path(self._download(go, work)["Dir"])
        if (sums := published / "go.sum").exists():
            # What its authors built it with: not every fork is known to the checksum database.
            (work / "go.sum").write_text(sums.read_text() + self._sums)
        if self.changes:
            changed_copy(published, work / _COPY, self.changes)
        if self.main:
            (work / "main.go").write_text(self.main)
        package = "." if self.main else self.package or self.module
        flags = ("-mod=mod", "-trimpath", "-buildvcs=false", "-ldflags", linker_flags(module))
        title = f"building {self.name} {self.version}"
        if self.tests:
            # First what they import: `go test -c` does not name the packages that it compiles.
            imports = go.run(
                "list", "-mod=mod", "-f", _TEST_IMPORTS, package, folder=work, title=title
            )
            go.run("build", "-v", *flags, *imports.split(), folder=work, title=title)
        verb = ("test", "-c", "-vet=off") if self.tests else ("build", "-v")
        go.run(*verb, *flags, "-o", str(target), package, folder=work, title=title)
        go.report(f"built {self.name} {self.version} in {time.monotonic() - started:.0f} s")

    def _folder(self, environ: Mapping[str, str]) -> Path:
        parts = (self.name, self.version, digest(self.changes, self.main))
        return cache_folder(environ) / "programs" / "-".join(filter(None, parts))

    def _go(self, environ: Mapping[str, str], report: Report) -> Go:
        what, instead = f"{self.name} {self.version}", f"set {self.variable} to the program"
        return Go.find(environ, report, what=what, instead=instead)

    def _made(self, environ: Mapping[str, str], report: Report) -> Path:
        go = self._go(environ, report)
        folder = self._folder(environ)
        program = folder / "bin" / self.name
        with locked(folder, report):
            # Asked again under the lock: another process may have built it while we waited.
            if not os.access(program, os.X_OK):
                with workshop(folder / "building") as work:
                    self.build(go, work / self.name)
                    program.parent.mkdir(exist_ok=True)
                    os.replace(work / self.name, program)
        return program

    @property
    def _sums(self) -> str:
        return "".join(f"{line}\n" for line in self.sums)

    @property
    def _published(self) -> str:
        return f"{self.source_path or self.module}@{self.version}"

    def _pin(self, work: Path) -> None:
        """Let Go hold what it fetches to the sums that are given, if there are any."""
        if self.sums:
            (work / "go.mod").write_text("module quintant\n")
            (work / "go.sum").write_text(self._sums)

    def _download(self, go: Go, work: Path) -> dict[str, str]:
        wanted = self._published
        said = go.run("mod", "download", "-json", wanted, folder=work, title=f"fetching {wanted}")
        found: dict[str, str] = json.loads(said)
        return found

    def _describe(self, go: Go, work: Path) -> Module:
        wanted = self._published
        answer = json.loads(
            go.run("list", "-m", "-json", wanted, folder=work, title=f"fetching {wanted}")
        )
        return Module(
            path=self.module,
            version=self.version,
            gomod=Path(answer["GoMod"]).read_text(),
            published=answer["Time"],
            source=self.source_path,
        )


def variable(name: str) -> str:
    """Return the variable by which a user names a program that is already there."""
    return f"QUINTANT_{name.upper().replace('-', '_')}"


def given_program(variable: str, given: str) -> Path:
    """Return what a variable names; it is used as it is, or it is an error."""
    found = shutil.which(given)
    if found is None:
        raise ProgramError(
            f"cannot use {variable}={given}",
            why="there is no such program",
            hint=f"name a program that can be run, or unset {variable}",
        )
    return Path(found)
