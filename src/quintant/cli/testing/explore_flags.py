"""The flags of `quintant explore`, as a value."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from quintant.cli.testing.report_files import ReportFiles


class ExploreFlags(Struct, frozen=True):
    """What was given, by the names of the flags."""

    targets: tuple[str, ...] = ()
    """Files with scenarios; with a program at most one."""
    program: str | None = None
    """The command line of a program of any framework."""
    crds: tuple[Path, ...] = ()
    sample: Path | None = None
    pace: float | None = None
    server: str | None = None
    """What starts an API server for a run of a program."""
    first: bool = False
    schema: bool = False
    token: str | None = None
    """Of the one run that is made again."""
    modes: tuple[str, ...] = ()
    seeds: int = 0
    pairs: bool = False
    specs: int = 0
    seed: int = 1
    budget: float | None = None
    jobs: int | None = None
    junit: Path | None = None
    sarif: Path | None = None
    html: Path | None = None

    @property
    def files(self) -> ReportFiles:
        """The reports that are wanted."""
        return ReportFiles(self.junit, self.sarif, self.html)
