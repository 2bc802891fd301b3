"""`quintant operator`: one of the operators that come with Quintant, against any cluster."""

from __future__ import annotations

from typing import Any

import click

from quintant.cli.serve import flags, serve
from quintant.extras import require
from quintant.operators import OPERATORS, manager_of


@click.command(
    "operator",
    epilog="\b\n" + "\n".join(f"{name}: {OPERATORS[name].title}" for name in sorted(OPERATORS)),
)
@click.argument("name", metavar="NAME", type=click.Choice(sorted(OPERATORS)))
@flags
def command(name: str, **given: Any) -> None:
    """Run one of Quintant's own operators until Ctrl-C.

    It runs against the cluster of your kubeconfig, or inside one.
    """
    require(name)
    serve(lambda: manager_of(name), **given)
