"""`quintant explore --command`: the same for a program of any framework and language."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from quintant.cli.testing.explore_flags import ExploreFlags
from quintant.core.errors import ConfigError
from quintant.testing.explore.foreign.campaign import ForeignOptions
from quintant.testing.explore.foreign.exploration import Exploration, ForeignTarget
from quintant.testing.explore.foreign.planning import ORDER, PointNeverCame
from quintant.testing.explore.foreign.report import UNDISTURBED, ForeignFailure, ForeignReport
from quintant.testing.explore.injection.fault import FaultMode

if TYPE_CHECKING:
    from quintant.cli.testing.exploration_bar import ExplorationBar

FAILED, NEVER_CAME = 1, 2
"""Exit codes; of a replay whose point never came, and of an exploration that judged no run."""


def explore_program(program: str, flags: ExploreFlags) -> None:
    """Explore a program, or make one run of it again; SystemExit with what came of it."""
    exploration = Exploration(_target(program, flags))
    click.echo(exploration.chosen.reason)
    if flags.token is not None:
        _replay(exploration, flags.token, flags.jobs or _usual_jobs(flags, UNDISTURBED))
        return
    # Of the extra cluster, without which help is shown all the same.
    from quintant.cli.testing.exploration_bar import ExplorationBar

    again = partial(repeat, program, flags)
    with ExplorationBar() as bar:

        def found(failure: ForeignFailure) -> None:
            bar.say(f"\n{failure}\n  repeat: {again(failure.token)}")

        options = _options(flags, exploration)
        if flags.specs:
            report = exploration.explore_specs(options, flags.specs, flags.seed, _shown(bar), found)
        else:
            report = exploration.explore(options, _shown(bar), found)
    click.echo(str(report))
    flags.files.write([report.findings(_given(flags), again)])
    if report.failures:
        raise SystemExit(FAILED)
    if not report.judged:
        raise SystemExit(NEVER_CAME)


def repeat(program: str, flags: ExploreFlags, token: str) -> str:
    """The command line that makes a run again, as a shell reads it."""
    given = [word for path in flags.crds for word in ("--crds", str(path))]
    given += ["--sample", str(flags.sample)] if flags.sample is not None else []
    given += ["--pace", f"{flags.pace:g}"] if flags.pace is not None else []
    given += ["--server", flags.server] if flags.server is not None else []
    command = ["quintant", "explore", "--command", program, *given, *flags.targets]
    return shlex.join([*command, "--replay", token])


def _replay(exploration: Exploration, token: str, jobs: int) -> None:
    from quintant.cli.testing.exploration_bar import ExplorationBar

    try:
        with ExplorationBar() as bar:
            failure = exploration.replay(token, _shown(bar), jobs)
    except PointNeverCame as error:
        click.echo(f"error: {error}", err=True)
        raise SystemExit(NEVER_CAME) from None
    if failure is None:
        click.echo(f"{token}: as without any fault")
        return
    click.echo(str(failure))
    if failure.is_certain:
        raise SystemExit(FAILED)


def _shown(bar: ExplorationBar) -> Callable[[ForeignReport], None]:
    """Shows how far it is: first the runs without faults, then what they have shown."""
    announced: list[str] = []

    def progress(report: ForeignReport) -> None:
        if not report.is_recorded:
            title = f"{report.title} without faults"
            bar.show_progress(title, report.undisturbed_runs, UNDISTURBED, 0)
            return
        if not announced:
            bar.say(report.undisturbed)
            announced.extend(("", *report.notes))
        # What further runs without faults have shown.
        for note in report.notes:
            if note not in announced:
                announced.append(note)
                bar.say(note)
        failures = len(report.failures) + report.suspected
        bar.show_progress(report.title, report.runs, report.planned, failures)

    return progress


def _target(program: str, flags: ExploreFlags) -> ForeignTarget:
    if len(flags.targets) > 1 or flags.seeds:
        raise ConfigError(
            "cannot explore a program so",
            because="it has one scenario, and its chance is nobody's to repeat: no --seeds",
            hint="quintant explore --command '…' scenario.yaml",
        )
    scenario = Path(flags.targets[0]) if flags.targets else None
    return ForeignTarget(program, scenario, flags.crds, flags.sample, flags.pace, flags.server)


def _usual_jobs(flags: ExploreFlags, jobs: int) -> int:
    """How many runs are made at once: a server of its own has more to do than the program."""
    return jobs if flags.server is None else 1


def _options(flags: ExploreFlags, exploration: Exploration) -> ForeignOptions:
    cores = os.cpu_count() or 1
    # Who runs in real time waits most of it.
    usual = _usual_jobs(flags, cores if exploration.chosen.pace > 1 else 2 * cores)
    return ForeignOptions(_modes(flags), flags.jobs or usual, flags.budget, flags.first)


def _modes(flags: ExploreFlags) -> tuple[FaultMode, ...]:
    modes = tuple(map(FaultMode, flags.modes)) or ORDER
    for mode in modes:
        if mode not in ORDER:
            raise ConfigError(
                f"cannot try {mode} with a program",
                because="it is about members, or what is outside of the cluster: not known here",
                hint=", ".join(ORDER),
            )
    return modes


def _given(flags: ExploreFlags) -> str:
    return flags.targets[0] if flags.targets else str(flags.sample)
