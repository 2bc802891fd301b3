"""`quintant record`: write down every change of a cluster."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from quintant.cli.cluster.chosen_cluster import find_running
from quintant.cli.cluster.signals import stop_event
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.cluster.instance.recorder import record
from quintant.cluster.instance.recording_file import MOST_BYTES
from quintant.core.clock import SystemClock
from quintant.runtime.observe import logs

MEGABYTE = 1024 * 1024


@click.command("record")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--cluster", default="", help="One of `quintant clusters`, instead of a kubeconfig.")
@click.option("--kubeconfig", type=click.Path(path_type=Path), help="Instead of the usual places.")
@click.option("--context", help="Instead of the kubeconfig's current context.")
@click.option(
    "--max-size",
    type=click.IntRange(min=1),
    default=MOST_BYTES // MEGABYTE,
    show_default=True,
    metavar="MB",
    help="It ends when the file is so large.",
)
def command(
    file: Path, cluster: str, kubeconfig: Path | None, context: str | None, max_size: int
) -> None:
    """Write every change of a cluster into a file.

    It continues until Ctrl-C, or until the file is full. Any cluster whose objects you may list
    and watch can be recorded. What Secrets hold is not written. What was written is kept whatever
    becomes of this program; `quintant replay` opens it.
    """
    if cluster:
        kubeconfig = Path(find_running(cluster)[1].kubeconfig)
    logs.configure(level="warning")
    config = Config.load(kubeconfig, context=context) if kubeconfig else Config.discover(context)
    asyncio.run(_record(config, file, max_size * MEGABYTE))


async def _record(config: Config, file: Path, most: int) -> None:
    stopped, transport = stop_event(), HttpTransport(config)
    try:
        async with record(transport, file, SystemClock(), most=most) as recorder:
            click.echo(f"recording {recorder.kinds} kinds into {file}; Ctrl-C ends", err=True)
            if recorder.refused:
                names = ", ".join(sorted(each.full_name for each in recorder.refused))
                click.echo(f"left out, since they may not be read: {names}", err=True)
            await stopped.wait()
    finally:
        await transport.close()
    click.echo(f"recorded {file}", err=True)
