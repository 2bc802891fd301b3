"""`quintant klight check DIR`: what is wrong with the chain of a lightpeer that does not run.

Nothing is changed. The exit code is 0 if all is well, 1 if something is damaged or missing, and 2
if it cannot be told, as while a peer has the directory.
"""

from __future__ import annotations

from pathlib import Path

import click

from quintant.agents.lightpeer.disk import check as chain
from quintant.agents.lightpeer.disk.lock import holder
from quintant.core.errors import error_text

WRONG, UNKNOWN = 1, 2


@click.command("check")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
def check(directory: Path) -> None:
    """Read the chain in DIR, a lightpeer's -repo, and say what is wrong with it."""
    if not directory.is_dir():
        _refuse(directory, "there is no such directory", "the -repo of a lightpeer")
    if who := holder(directory):
        _refuse(directory, f"{who} has it", "end that process first, or ask it: GetStatus")
    try:
        report = chain.check(directory)
    except OSError as error:
        _refuse(directory, str(error), "as a user who may read it")
    click.echo(
        f"{report.blocks} blocks, {report.clients} of them by clients, "
        f"{report.journaled} in the journal; the newest is {report.head or 'none'}"
    )
    for note in report.notes:
        click.echo(f"note: {note}")
    for wrong in report.wrong:
        click.echo(f"wrong: {wrong}")
    if report.wrong:
        raise click.exceptions.Exit(WRONG)
    click.echo("nothing is wrong")


def _refuse(directory: Path, because: str, hint: str) -> None:
    click.echo(error_text(f"cannot check {directory}", because, hint), err=True)
    raise click.exceptions.Exit(UNKNOWN)
