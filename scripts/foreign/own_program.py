"""A small program of ours in Go around libraries of others: built into the cache, once."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from foreign.cache import cache_folder, locked, workshop
from foreign.errors import Report, announce
from foreign.go import Go
from foreign.go_program import given_program, variable

_DIGEST_BYTES = 6


@dataclass(frozen=True)
class OwnProgram:
    """A folder with the whole source of a program: its own go.mod and go.sum pin the libraries."""

    folder: Path

    @property
    def name(self) -> str:
        """That of the folder."""
        return self.folder.name

    def provide(self, environ: Mapping[str, str], *, report: Report = announce) -> Path:
        """Return the program; build it first where it is missing, or its source is another."""
        if given := environ.get(variable(self.name)):
            return given_program(variable(self.name), given)
        home = cache_folder(environ) / "programs" / f"{self.name}-{self._digest()}"
        program = home / "bin" / self.name
        with locked(home, report):
            if not os.access(program, os.X_OK):
                with workshop(home / "building") as work:
                    self._build(environ, report, work / self.name)
                    program.parent.mkdir(exist_ok=True)
                    os.replace(work / self.name, program)
        return program

    def _build(self, environ: Mapping[str, str], report: Report, target: Path) -> None:
        instead = f"set {variable(self.name)} to the program"
        go = Go.find(environ, report, what=self.name, instead=instead)
        for file in self._files():
            (target.parent / file.name).write_bytes(file.read_bytes())
        go.run(
            *("build", "-v", "-mod=readonly", "-trimpath", "-buildvcs=false"),
            *("-ldflags", "-s -w", "-o", str(target), "."),
            folder=target.parent,
            title=f"building {self.name}",
        )

    def _files(self) -> list[Path]:
        return sorted(path for path in self.folder.iterdir() if path.is_file())

    def _digest(self) -> str:
        content = b"\0".join(path.read_bytes() for path in self._files())
        return blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()
