"""The progress of an exploration: a bar in a terminal. It needs rich, of the extra cluster."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from quintant.testing.explore.report.exploration import ExplorationReport


class ExplorationBar:
    """A bar that moves in a terminal, and nothing elsewhere."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, soft_wrap=True, emoji=False)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[failed]}"),
            TimeRemainingColumn(),
        )
        self._progress = Progress(
            *columns, console=self._console, transient=True, disable=not self._console.is_terminal
        )
        self._task = self._progress.add_task("", failed="")

    def __enter__(self) -> ExplorationBar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, report: ExplorationReport) -> None:
        self.show_progress(report.title, report.runs, report.planned, len(report.failures))

    def show_progress(self, title: str, runs: int, planned: int, failures: int) -> None:
        failed = f"{failures} failed" if failures else ""
        self._progress.update(
            self._task, description=title, completed=runs, total=planned, failed=failed
        )

    def say(self, text: str) -> None:
        self._console.print(text, markup=False)
