"""`quintant replay`: open a recorded cluster as it was."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from quintant.cli.cluster.serve_cluster import UpOptions, serve_cluster
from quintant.cluster.instance.cluster import USUAL, ClusterConfig
from quintant.cluster.instance.replay import load_recording
from quintant.core.address import BindAddress
from quintant.runtime.manager.loops import loop_factory
from quintant.runtime.observe import logs


@click.command("replay")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--until", type=click.IntRange(min=1), metavar="REVISION", help="Else the end of the file."
)
@click.option("--listen", default=str(USUAL), show_default=True, help="host:port")
@click.option("--kubeconfig", type=click.Path(path_type=Path), help="Where to write the way in.")
def command(file: Path, until: int | None, listen: str, kubeconfig: Path | None) -> None:
    """Open a recorded cluster as it was at a revision.

    It is for looking, until Ctrl-C: nothing runs in it, so nothing becomes of its objects. It is a
    copy in memory; what is written to it is gone with it.
    """
    recording = load_recording(file, until)
    logs.configure(level="error")
    plan = ClusterConfig(BindAddress.parse(listen))
    shown = until or recording.last
    click.echo(f"{file} as of revision {shown}, of {recording.first} to {recording.last}", err=True)
    if recording.left_out:
        click.echo(f"{recording.left_out} objects of kinds unknown here are left out", err=True)
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        options = UpOptions(None, False, kubeconfig, False, "", False, snapshot=recording.objects)
        runner.run(serve_cluster(plan, options))
