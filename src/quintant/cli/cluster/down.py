"""`quintant down`: stop a cluster that was started with a name."""

from __future__ import annotations

import os
import signal
from functools import partial

import click

from quintant.cli.cluster.chosen_cluster import choose_cluster
from quintant.cli.slow_progress import SlowProgress
from quintant.cluster.instance.records import ClusterRecords, NamedCluster
from quintant.core.options import DURATION


@click.command("down")
@click.argument("name", default="")
@click.option("--all", "everything", is_flag=True, help="Stop every cluster that has a name.")
@click.option(
    "--timeout", default="60s", show_default=True, help="After how long it is killed, as 30s."
)
def command(name: str, everything: bool, timeout: str) -> None:
    """Stop a cluster that was started with a name.

    NAME is one of `quintant clusters`; without it, it is the only one there is, or `default`. Its
    pods end first. What it kept in a --data-dir stays there.
    """
    if name and everything:
        raise click.UsageError("NAME and --all exclude each other")
    seconds = _seconds(timeout)
    records = ClusterRecords(os.environ)
    clusters = records.list() if everything else [choose_cluster(records, name)]
    for cluster in clusters:
        _stop(records, cluster, seconds)


def _seconds(text: str) -> float:
    try:
        return float(DURATION.parse(text))
    except ValueError:
        raise click.UsageError(f"--timeout {text}: expected a duration, as 30s") from None


def _stop(records: ClusterRecords, cluster: NamedCluster, seconds: float) -> None:
    name = cluster.name
    if not cluster.running:
        records.forget(name)
        click.echo(f"{name} did not run any more; what it left is removed")
        return
    records.signal(name, signal.SIGTERM)
    progress = partial(SlowProgress().say, f"waiting for {name} to end")
    if not records.wait_ended(name, seconds, progress):
        click.echo(f"{name} did not end in {seconds:g} s, and is killed", err=True)
        records.signal(name, signal.SIGKILL)
        records.wait_ended(name, seconds, progress)
    records.forget(name)
    kept = cluster.record.data_dir if cluster.record else ""
    click.echo(f"stopped {name}" + (f"; its objects stay in {kept}" if kept else ""))
