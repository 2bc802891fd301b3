"""`quintant simulate`: days of all operators in minutes, with everything that happens to them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import click

from quintant.core.errors import ConfigError

if TYPE_CHECKING:
    from quintant.testing.simulate.simulation import SimulationReport

NEVER = 2
"""Exit code, beside 1 for what does not hold: something of interest happened in no seed."""
MOST_DAYS = 365
NO_LOGS = logging.CRITICAL
"""What is logged below: operators in trouble say much, and the timeline says why."""


@click.command("simulate")
@click.option("--days", default=1.0, show_default=True, help="How many days of virtual time.")
@click.option("--seed", default=1, show_default=True, help="What happens, and when, is drawn from.")
@click.option(
    "--seeds",
    default=1,
    show_default=True,
    metavar="COUNT",
    help="So many simulations, each with the next seed; without their timelines.",
)
@click.option(
    "--operators",
    metavar="NAME,...",
    default="",
    help="Only these; by default cosmos,infra,klight,portal,shifu.",
)
@click.option("--nodes", default=50, show_default=True, help="How many simulated nodes.")
@click.option(
    "--replay", metavar="SEED", type=int, help="Simulate this seed again: the same, to the byte."
)
@click.option(
    "--until",
    metavar="MOMENT",
    default="",
    help="End at a moment of the timeline, such as 2d04:05:06, and show what there is then.",
)
def command(
    days: float, seed: int, seeds: int, operators: str, nodes: int, replay: int | None, until: str
) -> None:
    """Simulate days of a cluster with all operators, in minutes.

    Nodes die and return, pods crash, watches break, leaders change, operators are rolled out, and
    users and remotes do what they do. Prints a timeline and a digest: the same seed is the same
    simulation, to the byte. Ends with 1 if something did not hold, and, with --seeds, with 2 if
    something of interest happened in none of them.
    """
    # Loaded by those who simulate: it brings everything with it.
    from quintant.testing.explore.simulation.log_capture import captured_logs
    from quintant.testing.simulate.simulation import SimulationOptions, simulate

    first = seed if replay is None else replay
    names = _names(operators)
    if not 0 < days <= MOST_DAYS or seeds < 1 or nodes < 1:
        raise click.UsageError(f"--days is at most {MOST_DAYS}; --seeds and --nodes at least 1.")
    reports: list[SimulationReport] = []
    for number in range(first, first + seeds):
        options = SimulationOptions(number, days, names, nodes, _moment(until))
        with captured_logs(NO_LOGS):
            reports.append(simulate(options, click.echo if seeds == 1 else lambda line: None))
        click.echo(_summary(reports[-1]))
        for violation in reports[-1].violations if seeds > 1 else ():
            click.echo(f"  ! {violation}")
    if seeds == 1:
        _show_end(reports[0], objects=bool(until))
    never = _never([each.reached for each in reports]) if seeds > 1 else []
    for name in never:
        click.echo(f"in no seed: {name}")
    if any(each.violations for each in reports):
        raise SystemExit(1)
    if never:
        raise SystemExit(NEVER)


def _names(text: str) -> tuple[str, ...]:
    from quintant.testing.simulate.systems import SYSTEMS

    names = tuple(sorted({each.strip() for each in text.split(",") if each.strip()}))
    unknown = [each for each in names if each not in SYSTEMS]
    if unknown:
        raise ConfigError(
            f"cannot simulate {unknown[0]!r}",
            because="it is no operator with a simulation",
            hint=f"--operators {','.join(SYSTEMS)}",
        )
    return names or tuple(SYSTEMS)


def _moment(text: str) -> float | None:
    from quintant.testing.simulate.timeline import parse_moment

    if not text:
        return None
    try:
        return parse_moment(text)
    except ValueError:
        raise ConfigError(
            f"{text!r} is no moment",
            because="a moment is days, hours, minutes and seconds, as a timeline has them",
            hint="--until 2d04:05:06",
        ) from None


def _summary(report: SimulationReport) -> str:
    from quintant.testing.simulate.timeline import moment

    held = f"{len(report.violations)} violations" if report.violations else "all holds"
    passed, writes = moment(report.seconds), report.writes
    return f"seed {report.seed}: {passed}, {writes} writes, digest {report.digest}; {held}"


def _show_end(report: SimulationReport, *, objects: bool) -> None:
    for line in report.objects if objects else ():
        click.echo(f"  {line}")
    for name, count in sorted(report.reached.items()):
        click.echo(f"  {count} times: {name}")


def _never(reached: Iterable[Mapping[str, int]]) -> list[str]:
    """What happened in none of many simulations."""
    total: Counter[str] = Counter()
    for each in reached:
        total.update(each)
    return sorted(name for name, count in total.items() if not count)
