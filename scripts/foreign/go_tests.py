"""Tests of others' Go packages: each package's as a program, beside the source that they read.

Paths of this machine are in no program, so that Go compiles what it has in its cache for others.
Tests that look for files by where they were compiled look for the path of their module, from the
folder that they run in: it is a link there.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from foreign.cache import cache_folder, locked, workshop
from foreign.errors import Report, announce
from foreign.go import Go
from foreign.go_program import GoProgram
from foreign.source_change import SourceChange, apply_changes, digest, writable_copy

_SOURCE = "source"


@dataclass(frozen=True)
class GoTests:
    """The tests of one published module, at its authors' pinned versions of all others."""

    module: GoProgram
    changes: tuple[SourceChange, ...] = ()
    """Where they are built from other text than was published."""
    added: tuple[tuple[str, str], ...] = ()
    """Files of ours beside theirs: a path in the module and a text."""

    def source(self, environ: Mapping[str, str], *, report: Report = announce) -> Path:
        """Return the copy of the module, where tests may write beside it."""
        folder = self._folder(environ)
        with locked(folder, report):
            if not (folder / _SOURCE).exists():
                with workshop(folder / "copying") as work:
                    copy = work / _SOURCE
                    writable_copy(self.module.source(environ, report=report), copy)
                    apply_changes(copy, self.changes)
                    for path, text in self.added:
                        (copy / path).write_text(text)
                    copy.replace(folder / _SOURCE)
        return folder / _SOURCE

    def provide(
        self, package: str, environ: Mapping[str, str], *, report: Report = announce
    ) -> Path:
        """Return the tests of a package of the module; build them first where they are missing."""
        source, folder = self.source(environ, report=report), self._folder(environ)
        # Named as Go would: tests read from their own names who a field's manager is.
        program = folder / "bin" / package / f"{Path(package).name}.test"
        with locked(folder, report):
            if not os.access(program, os.X_OK):
                with workshop(folder / "building") as work:
                    self._build(environ, report, package, source, work / program.name)
                    program.parent.mkdir(parents=True, exist_ok=True)
                    (work / program.name).replace(program)
        return program

    def folder(
        self, package: str, environ: Mapping[str, str], *, report: Report = announce
    ) -> Path:
        """Return where the tests of a package run."""
        source = self.source(environ, report=report)
        link = source / package / self.module.module
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(source)
        return source / package

    def _folder(self, environ: Mapping[str, str]) -> Path:
        ours = digest(self.changes, "\0".join(text for _, text in self.added))
        parts = (self.module.name, self.module.version, "tests", ours)
        return cache_folder(environ) / "programs" / "-".join(filter(None, parts))

    def _build(
        self, environ: Mapping[str, str], report: Report, package: str, source: Path, target: Path
    ) -> None:
        what = f"the tests of {self.module.name}'s {package}"
        go = Go.find(environ, report, what=what, instead="leave them out")
        flags = ("-mod=readonly", "-trimpath", "-buildvcs=false", "-vet=off", "-ldflags", "-s -w")
        go.run(
            *("test", "-C", str(source), "-c", *flags, "-o", str(target), f"./{package}"),
            folder=target.parent,
            title=f"building {what}",
        )
