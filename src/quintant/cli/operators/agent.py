"""`quintant agent`: a program that runs in pods, here."""

from __future__ import annotations

import click

from quintant.agents import AGENTS, run_agent
from quintant.extras import require

_HELP = {"-h", "--help"}


@click.command(
    "agent",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="\b\n" + "\n".join(f"{name}: {what}" for name, what in sorted(AGENTS.items())),
)
@click.argument("name", metavar="NAME", type=click.Choice(sorted(AGENTS)))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(name: str, arguments: tuple[str, ...]) -> None:
    """Run a program that pods are made of.

    What follows its name is for the program; NAME --help tells what that may be.
    """
    if not _HELP & set(arguments):
        require(name)
    run_agent(name, arguments)
