"""`quintant snapshots`: those that were kept."""

from __future__ import annotations

import os
from typing import Any

import click
import msgspec

from quintant.cli.look.table import Rows, laid_out
from quintant.cluster.instance.snapshot_files import SavedSnapshot, SnapshotFiles


@click.command("snapshots")
@click.option("--output", "-o", type=click.Choice(["json"]), help="For programs.")
def command(output: str | None) -> None:
    """List the snapshots that were kept.

    Only the first line of each is read: `quintant restore` looks whether the rest is whole. To
    delete one, remove its file.
    """
    listed = [_described(each) for each in SnapshotFiles(os.environ).list()]
    if output == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(listed)).decode())
    elif not listed:
        click.echo("none; quintant snapshot NAME keeps one", err=True)
    else:
        click.echo(laid_out(_rows(listed)))


def _described(saved: SavedSnapshot) -> dict[str, Any]:
    """What is said of one."""
    info = saved.info
    if info is None:
        return {"name": saved.name, "path": str(saved.path), "unusable": saved.complaint}
    return {
        "name": saved.name,
        "cluster": info.cluster,
        "created": info.created,
        "objects": info.objects,
        "revision": info.revision,
        "path": str(saved.path),
    }


def _rows(listed: list[dict[str, Any]]) -> Rows:
    return Rows(
        ("NAME", "CLUSTER", "CREATED", "OBJECTS", "REVISION", "FILE"),
        tuple(
            (
                each["name"],
                each.get("cluster") or "-",
                each.get("created") or each.get("unusable") or "-",
                str(each.get("objects", "-")),
                str(each.get("revision", "-")),
                each["path"],
            )
            for each in listed
        ),
    )
