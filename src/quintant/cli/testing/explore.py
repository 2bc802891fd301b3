"""`quintant explore`: every crash, lost answer and stale view of the scenarios in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from quintant.cli.testing.explore_flags import ExploreFlags
from quintant.cli.testing.report_files import report_options
from quintant.testing.explore.injection.fault import FaultMode


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
@click.option(
    "--server",
    metavar="COMMAND",
    help="With --command: start an API server for every run, in place of the embedded one. It "
    "prints `export KUBECONFIG=FILE` once it answers.",
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
def command(**given: Any) -> None:
    """Disturb scenarios at every point, each in a run of its own.

    The files define classes of quintant.testing.Scenario. Every failure is printed with a token
    that repeats exactly its run. With --command a program of any framework and language is
    disturbed, in real time, before a cluster that is embedded here.
    """
    flags = ExploreFlags(**given)
    if flags.schema:
        _print_schema()
        return
    flags.files.check(replay=flags.token is not None)
    # Each loads what the others do without.
    if flags.program is not None:
        from quintant.cli.testing.explore_program import explore_program

        explore_program(flags.program, flags)
        return
    from quintant.cli.testing.explore_files import explore_files

    if not flags.targets:
        raise click.UsageError("Missing argument 'FILE[:SCENARIO]...'.")
    explore_files(flags)


def _print_schema() -> None:
    from quintant.testing.explore.foreign.scenario_file import scenario_schema

    click.echo(msgspec.json.format(msgspec.json.encode(scenario_schema()), indent=2).decode())
