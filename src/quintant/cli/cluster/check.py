"""`quintant check`: which objects of a data directory are not what was written."""

from __future__ import annotations

from pathlib import Path

import click

from quintant.cluster.apiserver.storage.corruption import Examination
from quintant.cluster.apiserver.storage.file_format import UNCHECKED_FORMAT
from quintant.cluster.instance.check_documents import examine_cluster


@click.command("check")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def command(folder: Path) -> None:
    """Name the objects of a data directory that are damaged.

    DIR is the --data-dir of a cluster that does not run; nothing in it is changed. Every object
    that is damaged is named, and the exit code is 1.
    """
    found = examine_cluster(folder)
    for damage in (*found.corrupt, *found.complaints):
        click.echo(f"damaged: {damage}")
    if not found.whole:
        click.echo(
            f"{len(found.rows)} objects are good; restore a copy of {folder}, or go on without "
            f"the others: quintant up --data-dir {folder} --salvage",
            err=True,
        )
        raise click.exceptions.Exit(1)
    click.echo(_good(found))


def _good(examination: Examination) -> str:
    count, number = len(examination.rows), examination.format
    message = f"{count} objects, all as they were written (format {number})"
    if number == UNCHECKED_FORMAT:
        message += "; it has no checksums yet: the next start adds them"
    return message
