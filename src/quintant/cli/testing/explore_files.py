"""`quintant explore FILE...`: scenarios of operators that are written with Quintant."""

from __future__ import annotations

import os

import click

from quintant.cli.testing.exploration_bar import ExplorationBar
from quintant.cli.testing.explore_flags import ExploreFlags
from quintant.cli.testing.explore_specs import explore_spec_scenarios, replay_spec_scenario
from quintant.core.errors import ConfigError
from quintant.testing.explore.campaign import ExplorationOptions, explore_scenarios, replay_run
from quintant.testing.explore.injection.fault import FaultMode
from quintant.testing.explore.loading import load_scenario, load_scenarios
from quintant.testing.explore.report.exploration import ExplorationReport
from quintant.testing.explore.report.findings import scenario_findings
from quintant.testing.explore.specs.scenario import SpecScenario

FAILED, NO_RUN = 1, 2
"""Exit codes; the second where nothing has a point for the modes that are wanted."""


def explore_files(flags: ExploreFlags) -> None:
    """Explore the scenarios of files, or make one run again; SystemExit with what came of it."""
    if flags.token is not None:
        _replay(flags.targets, flags.token)
        return
    scenarios = {
        at: each for target in flags.targets for at, each in load_scenarios(target).items()
    }
    if flags.specs:
        explore_spec_scenarios(scenarios, flags.specs, flags.seed, flags.files)
        return
    points = {at: each for at, each in scenarios.items() if not issubclass(each, SpecScenario)}
    chosen = points or scenarios
    with ExplorationBar() as bar:
        reports = []
        for report in explore_scenarios(chosen, _options(flags), bar.show):
            reports.append(report)
            bar.say(str(report))
    flags.files.write(list(map(scenario_findings, reports, chosen)))
    click.echo(_total(reports))
    if any(report.failures for report in reports):
        raise SystemExit(FAILED)
    if not any(report.runs for report in reports):
        click.echo("error: no run was made, so nothing is known", err=True)
        raise SystemExit(NO_RUN)


def _options(flags: ExploreFlags) -> ExplorationOptions:
    return ExplorationOptions(
        tuple(map(FaultMode, flags.modes)) or tuple(FaultMode),
        range(1, flags.seeds + 1),
        flags.pairs,
        flags.budget,
        flags.jobs or os.cpu_count() or 1,
    )


def _total(reports: list[ExplorationReport]) -> str:
    runs, planned = sum(each.runs for each in reports), sum(each.planned for each in reports)
    failures = sum(len(each.failures) for each in reports)
    return f"all: {runs} of {planned} runs; {failures} failures"


def _replay(targets: tuple[str, ...], token: str) -> None:
    if len(targets) > 1:
        raise ConfigError(
            "cannot replay a run of several files",
            because="a token names a run of one scenario",
            hint=f"quintant explore {targets[0]} --replay '{token}'",
        )
    scenario = load_scenario(targets[0])
    if issubclass(scenario, SpecScenario):
        replay_spec_scenario(scenario, token)
        return
    try:
        replay_run(scenario, token)
    except AssertionError as error:
        click.echo(str(error))
        raise SystemExit(FAILED) from None
    click.echo(f"{scenario.title()} {token}: as without any fault")
