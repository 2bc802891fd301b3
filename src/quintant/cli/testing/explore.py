"""`quintant explore`: every crash, lost answer and stale view of the scenarios in files."""

from __future__ import annotations

import os
from pathlib import Path

import click
import msgspec

from quintant.cli.testing.report_files import ReportFiles, report_options
from quintant.core.errors import ConfigError
from quintant.testing.explore.campaign import ExplorationOptions, explore_scenarios, replay_run
from quintant.testing.explore.injection.fault import FaultMode
from quintant.testing.explore.loading import load_scenario, load_scenarios
from quintant.testing.explore.report.exploration import ExplorationReport
from quintant.testing.explore.report.findings import scenario_findings
from quintant.testing.explore.specs.scenario import SpecScenario

NO_RUN = 2
"""Exit code, beside 1 for a failure: nothing has a point for the modes that are wanted."""


@click.command("explore")
@click.argument("targets", metavar="FILE[:SCENARIO]...", nargs=-1)
@click.option(
    "--command",
    "program",
    metavar="COMMAND",
    help="Explore a program of any framework: './manager --kubeconfig {kubeconfig}'. FILE is then "
    "a scenario in YAML.",
)
@click.option(
    "--crds",
    multiple=True,
    metavar="PATH",
    type=click.Path(path_type=Path, exists=True),
    help="With --sample: files or folders of CustomResourceDefinitions; may be repeated.",
)
@click.option(
    "--sample",
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="With --command: what is created, changed, scaled and deleted, without a scenario.",
)
@click.option(
    "--pace",
    metavar="TIMES",
    type=float,
    help="With --command: how many times as fast its clock runs; by default 30, and 1 in Go.",
)
@click.option("--first", is_flag=True, help="With --command: end with the first failure.")
@click.option("--schema", is_flag=True, help="Print the JSON schema of scenarios in YAML.")
@click.option("--replay", "token", metavar="TOKEN", help="Make one run again, and tell its story.")
@click.option(
    "--mode",
    "modes",
    multiple=True,
    type=click.Choice([mode.value for mode in FaultMode]),
    metavar="MODE",
    help="Try this, and nothing that is not named; may be repeated.",
)
@click.option(
    "--seeds",
    metavar="COUNT",
    default=0,
    help="Instead of every point, so many runs in random order with random faults.",
)
@click.option(
    "--pairs",
    is_flag=True,
    help="Instead, two faults in every run: each pair whose second point follows from the first; "
    "of scenarios with many points a sample.",
)
@click.option(
    "--specs",
    metavar="COUNT",
    default=0,
    help="Instead, change the spec of each SpecScenario, or of --sample, in so many ways: every "
    "property, boundaries, what is refused, and several at once.",
)
@click.option("--seed", metavar="N", default=1, help="With --specs: another one tries others.")
@click.option(
    "--budget",
    metavar="SECONDS",
    type=float,
    help="Time for everything together; what does not fit is sampled, and counted.",
)
@click.option("--jobs", metavar="COUNT", type=int, help="Processes; by default one for each core.")
@report_options
def command(
    targets: tuple[str, ...],
    token: str | None,
    modes: tuple[str, ...],
    seeds: int,
    pairs: bool,
    specs: int,
    seed: int,
    budget: float | None,
    jobs: int | None,
    program: str | None,
    crds: tuple[Path, ...],
    sample: Path | None,
    pace: float | None,
    first: bool,
    schema: bool,
    junit: Path | None,
    sarif: Path | None,
    html: Path | None,
) -> None:
    """Disturb scenarios at every point, each in a run of its own.

    The files define classes of quintant.testing.Scenario. Every failure is printed with a token
    that repeats exactly its run. With --command a program of any framework and language is
    disturbed, in real time, before a cluster that is embedded here.
    """
    if schema:
        # Loaded by those who explore foreign programs.
        from quintant.testing.explore.foreign.scenario_file import scenario_schema

        click.echo(msgspec.json.format(msgspec.json.encode(scenario_schema()), indent=2).decode())
        return
    files = ReportFiles(junit, sarif, html)
    files.check(replay=token is not None)
    if program is not None:
        from quintant.cli.testing.explore_program import ProgramRequest, explore_program

        explore_program(
            ProgramRequest(
                program,
                targets,
                crds,
                sample,
                pace,
                token,
                modes,
                seeds,
                budget,
                jobs,
                first,
                specs,
                seed,
            ),
            files,
        )
        return
    if not targets:
        raise click.UsageError("Missing argument 'FILE[:SCENARIO]...'.")
    if token is not None:
        _replay(targets, token)
        return
    found = {at: each for target in targets for at, each in load_scenarios(target).items()}
    if specs:
        from quintant.cli.testing.explore_specs import explore_spec_scenarios

        explore_spec_scenarios(found, specs, seed, files)
        return
    found = {at: each for at, each in found.items() if not issubclass(each, SpecScenario)} or found
    options = ExplorationOptions(
        tuple(map(FaultMode, modes)) or tuple(FaultMode),
        range(1, seeds + 1),
        pairs,
        budget,
        jobs or os.cpu_count() or 1,
    )
    # Of the extra cluster, without which help is shown all the same.
    from quintant.cli.testing.exploration_bar import ExplorationBar

    with ExplorationBar() as bar:
        reports = []
        for report in explore_scenarios(found, options, bar.show):
            reports.append(report)
            bar.say(str(report))
    files.write(list(map(scenario_findings, reports, found)))
    click.echo(_total(reports))
    if any(report.failures for report in reports):
        raise SystemExit(1)
    if not any(report.runs for report in reports):
        click.echo("error: no run was made, so nothing is known", err=True)
        raise SystemExit(NO_RUN)


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
        from quintant.cli.testing.explore_specs import replay_spec_scenario

        replay_spec_scenario(scenario, token)
        return
    try:
        replay_run(scenario, token)
    except AssertionError as error:
        click.echo(str(error))
        raise SystemExit(1) from None
    click.echo(f"{scenario.title()} {token}: as without any fault")
