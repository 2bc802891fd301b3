"""What the demo looks like: a table that moves in a terminal, lines of text elsewhere."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from quintant.cli.cluster.kubectl import kubectl_advice
from quintant.demo.convergence import Progress, StartupStage
from quintant.demo.footprint import Footprint

Titles = Mapping[str, str]

_COLOURS = {
    StartupStage.WAITING: "dim",
    StartupStage.INSTALLING: "cyan",
    StartupStage.STARTING: "cyan",
    StartupStage.CONVERGING: "yellow",
    StartupStage.RUNNING: "green",
    StartupStage.FAILED: "red",
}
# A table that is drawn again this often looks alive, and costs nothing.
FRAMES_PER_SECOND = 4
# Of lines that no terminal folds.
FILE_WIDTH = 120
# Of a table that stays: a terminal folds its lines as it likes, and whatever is copied is whole.
WHOLE_WIDTH = 400


class ProgressDisplay(Protocol):
    """Where the demo tells what happens."""

    def say(self, text: str) -> None:
        """Tell something about the whole."""

    def report(self, progress: Progress) -> None:
        """Tell something about one system."""


class _Lines:
    """For logs and pipes: a line for every change."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def say(self, text: str) -> None:
        self._console.print(f"· {escape(text)}")

    def report(self, progress: Progress) -> None:
        message = f"{progress.system}: {progress.stage.value}, {progress.message}"
        self._console.print(f"· {progress.seconds:5.1f} s  {escape(message)}")


class _Moving:
    """For terminals: one row per system."""

    def __init__(self, live: Live, titles: Titles) -> None:
        self._live = live
        self._titles = titles
        self._rows = {name: Progress(name) for name in titles}

    def say(self, text: str) -> None:
        self._live.console.print(f"· {escape(text)}")

    def report(self, progress: Progress) -> None:
        self._rows[progress.system] = progress
        self._live.update(table(self._rows.values(), self._titles))


@contextmanager
def progress_display(titles: Titles) -> Iterator[ProgressDisplay]:
    """The screen that suits where the output goes."""
    console = _console()
    if not console.is_terminal:
        yield _Lines(console)
        return
    with Live(console=console, refresh_per_second=FRAMES_PER_SECOND, transient=True) as live:
        yield _Moving(live, titles)


def table(rows: Iterable[Progress], titles: Titles) -> Table:
    """The systems, one per row."""
    made = Table("system", "", "state", "after", box=None, pad_edge=False)
    # A URL is of no use in part.
    made.add_column("what is there", overflow="fold")
    for each in rows:
        colour = _COLOURS[each.stage]
        made.add_row(
            each.system,
            f"[dim]{escape(titles[each.system])}[/]",
            f"[{colour}]{each.stage.value}[/]",
            f"{each.seconds:.1f} s",
            escape(each.message),
        )
    return made


def summary(ends: Sequence[Progress], titles: Titles, taken: Footprint | None) -> None:
    """What runs, what does not and why, and what all of it takes."""
    console = _console()
    console.print()
    Console(highlight=False, width=WHOLE_WIDTH).print(table(ends, titles))
    for each in ends:
        for reason in each.reasons:
            console.print(f"  [red]{each.system}[/]: {escape(reason)}")
    for each in ends:
        if each.lines:
            console.print(f"\n{each.system}:")
        for line in each.lines:
            console.print(f"  {escape(line)}")
    if taken is not None:
        last = max(each.seconds for each in ends)
        console.print(f"\nall together: {last:.1f} s, {taken}")


def invitation(tries: Iterable[str], way: Path) -> None:
    """What to do next, for as long as everything stays."""
    console = _console()
    console.print(f"\nto look around:\n  export KUBECONFIG={shlex.quote(str(way))}")
    for line in tries:
        console.print(f"  {escape(line)}")
    if advice := kubectl_advice():
        console.print(f"\n{escape(advice)}")
    console.print("\neverything stays until Ctrl-C")


def _console() -> Console:
    width = None if sys.stdout.isatty() else FILE_WIDTH
    return Console(highlight=False, soft_wrap=True, width=width)
