"""`quintant explore`: every crash, lost answer and stale view of the scenarios in a file."""

from __future__ import annotations

import click

from quintant.core.errors import ConfigError
from quintant.runtime.manager.loading import load
from quintant.testing.explore.explorer import explore_scenario, replay_run
from quintant.testing.explore.scenario import Scenario, scenarios_of


@click.command("explore")
@click.argument("target", metavar="FILE[:SCENARIO]")
@click.option("--replay", "token", metavar="TOKEN", help="Make one run again, and tell its story.")
def command(target: str, token: str | None) -> None:
    """Disturb scenarios at every point, each in a run of its own.

    The file defines classes of quintant.testing.Scenario. Every failure is printed with a token
    that repeats exactly its run.
    """
    found = _scenarios(target)
    if token is not None:
        _replay(_only(found, target), token)
        return
    reports = [
        explore_scenario(each, target=f"{target.partition(':')[0]}:{each.__name__}")
        for each in found
    ]
    for report in reports:
        click.echo(str(report))
    if any(report.failures for report in reports):
        raise SystemExit(1)


def _scenarios(target: str) -> list[type[Scenario]]:
    """The scenarios of a module or file, or the one that is named behind a colon."""
    place, colon, name = target.rpartition(":")
    if not colon or not name.isidentifier():
        place, name = target, ""
    found = scenarios_of(load(place))
    chosen = [each for each in found if name in ("", each.__name__)]
    if not chosen:
        names = ", ".join(each.__name__ for each in found)
        raise ConfigError(
            f"cannot explore {target}",
            because=f"{place} defines {f'the scenarios {names}' if names else 'no scenario'}",
            hint="define one: class Greeting(quintant.testing.Scenario)",
        )
    return chosen


def _only(found: list[type[Scenario]], target: str) -> type[Scenario]:
    if len(found) > 1:
        raise ConfigError(
            f"cannot choose a scenario of {target}",
            because=f"it defines {', '.join(each.__name__ for each in found)}",
            hint=f"{target}:{found[0].__name__}",
        )
    return found[0]


def _replay(scenario: type[Scenario], token: str) -> None:
    try:
        replay_run(scenario, token)
    except AssertionError as error:
        click.echo(str(error))
        raise SystemExit(1) from None
    click.echo(f"{scenario.title()} {token}: as without any fault")
