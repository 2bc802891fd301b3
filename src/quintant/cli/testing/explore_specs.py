"""`quintant explore --specs`: what users can say of an object, in every way they can say it."""

from __future__ import annotations

from collections.abc import Mapping

import click

from quintant.cli.testing.report_files import ReportFiles
from quintant.core.errors import ConfigError
from quintant.testing.explore.report.findings import scenario_findings
from quintant.testing.explore.scenario import Scenario
from quintant.testing.explore.specs.campaign import explore_all_specs, replay_specs
from quintant.testing.explore.specs.scenario import SpecScenario

FAILED = 1


def explore_spec_scenarios(
    scenarios: Mapping[str, type[Scenario]], count: int, seed: int, files: ReportFiles
) -> None:
    """Explore those that are of specs; SystemExit if something does not hold."""
    # Of the extra cluster, without which help is shown all the same.
    from quintant.cli.testing.exploration_bar import ExplorationBar

    chosen = {at: each for at, each in scenarios.items() if issubclass(each, SpecScenario)}
    if not chosen:
        raise ConfigError(
            "there are no specs to explore",
            because=f"none of {', '.join(scenarios)} is a SpecScenario",
            hint="define one: class GreeterSpecs(quintant.testing.SpecScenario)",
        )
    with ExplorationBar() as bar:
        reports = []
        for report in explore_all_specs(chosen, count, seed, bar.show):
            reports.append(report)
            bar.say(str(report))
    files.write(list(map(scenario_findings, reports, chosen)))
    runs, failures = sum(each.runs for each in reports), sum(len(it.failures) for it in reports)
    click.echo(f"all: {runs} specs; {failures} failures")
    if failures:
        raise SystemExit(FAILED)


def replay_spec_scenario(scenario: type[SpecScenario], token: str) -> None:
    """Make one run again, and tell its story; SystemExit if something does not hold."""
    failure = replay_specs(scenario, token)
    if failure is None:
        click.echo(f"{scenario.title()}: as at once")
        return
    click.echo(str(failure))
    raise SystemExit(FAILED)
