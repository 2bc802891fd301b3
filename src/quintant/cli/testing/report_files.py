"""The files that `quintant explore` writes beside what it prints: --junit, --sarif and --html."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import click
from msgspec import Struct

from quintant.cli.whole_file import check_writable, write_whole
from quintant.core.clock import SystemClock
from quintant.core.errors import ConfigError
from quintant.testing.explore.report.findings import Findings
from quintant.testing.explore.report.html import html_report
from quintant.testing.explore.report.junit import junit_report
from quintant.testing.explore.report.sarif import sarif_report

F = TypeVar("F", bound=Callable[..., object])
_FILE = click.Path(path_type=Path, dir_okay=False)


class ReportFiles(Struct, frozen=True):
    """Which files are wanted."""

    junit: Path | None = None
    sarif: Path | None = None
    html: Path | None = None

    def check(self, *, replay: bool = False) -> None:
        """ConfigError if one could not be written in the end: before anything takes long."""
        for path in filter(None, (self.junit, self.sarif, self.html)):
            if replay:
                raise ConfigError(
                    f"cannot write {path}",
                    because="a replay is one run, and is told on the terminal",
                    hint="leave --replay out, or the report",
                )
            check_writable(path)

    def write(self, explored: Sequence[Findings]) -> None:
        """Write them all."""
        now = SystemClock().now()
        self._put(self.junit, lambda: junit_report(explored, now))
        self._put(self.sarif, lambda: sarif_report(explored))
        self._put(self.html, lambda: html_report(explored, now))

    def _put(self, path: Path | None, made: Callable[[], bytes]) -> None:
        if path is not None:
            write_whole(path, made())


def report_options(command: F) -> F:
    """The options of a command that writes reports."""
    for option in (
        click.option("--html", metavar="FILE", type=_FILE, help="Write a page for people."),
        click.option("--sarif", metavar="FILE", type=_FILE, help="Write SARIF 2.1.0."),
        click.option("--junit", metavar="FILE", type=_FILE, help="Write JUnit XML."),
    ):
        command = option(command)
    return command
