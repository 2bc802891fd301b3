"""`quintant up`: an embedded Kubernetes-compatible cluster, until Ctrl-C."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import click

from quintant.cli.apply.loading import load_manifests
from quintant.cli.cluster.detach import (
    connection_words,
    export_line,
    given_arguments,
    start_detached,
)
from quintant.cli.cluster.serve_cluster import UpOptions, serve_cluster
from quintant.cli.cluster.up_flags import UpFlags
from quintant.cluster.common.inert_kinds import inert_names
from quintant.cluster.common.node_heartbeat import GRACE_SECONDS
from quintant.cluster.host.command_line import hide_arguments
from quintant.cluster.instance.cluster import USUAL
from quintant.cluster.instance.records import DEFAULT, ClusterRecords
from quintant.cluster.instance.snapshot_files import load_snapshot
from quintant.runtime.manager.loops import loop_factory
from quintant.runtime.observe import logs

OWN = (
    *("detach", "name", "listen", "data_dir", "power_safe", "salvage", "from_snapshot"),
    *("kubeconfig", "print_kubeconfig", "load"),
)
"""Options that a fork of a cluster does not have from it."""


@click.command(
    "up",
    epilog=f"Stored, and nothing here acts on them: {inert_names()}.",
)
@click.option(
    "--name",
    default="",
    help="What `quintant clusters` lists it as and `quintant down` stops.",
)
@click.option(
    "--detach",
    is_flag=True,
    help=f"Run in the background, under the name {DEFAULT} if none is given.",
)
@click.option(
    "--listen",
    default="",
    help=f"host:port, else {USUAL}, or any free port for a named cluster if that is taken.",
)
@click.option(
    "--data-dir", type=click.Path(path_type=Path), help="Keep everything here; else in memory."
)
@click.option(
    "--power-safe", is_flag=True, help="With --data-dir: wait for the disk at every commit."
)
@click.option(
    "--salvage",
    is_flag=True,
    help="With --data-dir: go on without objects that are damaged, and keep them aside.",
)
@click.option(
    "--from-snapshot",
    type=click.Path(path_type=Path),
    help="Begin with the objects of a snapshot's file.",
)
@click.option("--kubeconfig", type=click.Path(path_type=Path), help="Where to write the way in.")
@click.option("--print-kubeconfig", is_flag=True, help="Print the way in and write no file.")
@click.option("--nodes", default=0, show_default=True, help="How many simulated nodes to add.")
@click.option("--zones", default=3, show_default=True, help="Over how many zones they are spread.")
@click.option(
    "--stages", type=click.Path(path_type=Path), help="What happens to simulated pods, as YAML."
)
@click.option(
    "--simulate-completion",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="When simulated pods that are not restarted end, unless their commands say.",
)
@click.option(
    "--images", type=click.Path(path_type=Path), help="More images that are run as processes."
)
@click.option(
    "--process-nodes",
    default="",
    metavar="NAME,...",
    help="More nodes whose pods are processes of this machine.",
)
@click.option(
    "--node-grace",
    default=f"{GRACE_SECONDS:g}s",
    show_default=True,
    help="After how long a silent node is Unknown, as 5s.",
)
@click.option("--allow-host-path", is_flag=True, help="Let pods mount any folder of this machine.")
@click.option("--no-node", is_flag=True, help="Run no pods as processes: all are simulated.")
@click.option("--api-only", is_flag=True, help="Run no controllers: nothing becomes of objects.")
@click.option(
    "--load",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Apply the manifests of a file or folder before the cluster is ready.",
)
@click.pass_context
def command(context: click.Context, /, **given: Any) -> None:
    """Run an embedded cluster until Ctrl-C, or in the background.

    It speaks the Kubernetes API with TLS and roles: for laptops, demos and tests, never for
    production. With a data directory the next start goes on where this one ends, however it ends.
    """
    flags = UpFlags(**given)
    flags.check()
    # Pods read command lines.
    hide_arguments(flags.secret_paths)
    config = flags.config()
    first = load_snapshot(flags.from_snapshot) if flags.from_snapshot else None
    manifests = load_manifests(flags.load)
    if flags.detach:
        _detach(flags.name or DEFAULT, context)
        return
    # What the parts of a cluster say in passing is not what its user asked for.
    logs.configure(level="error")
    if flags.salvage and flags.data_dir:
        _salvage(flags.data_dir)
    options = UpOptions(
        flags.data_dir,
        flags.power_safe,
        flags.kubeconfig,
        flags.print_kubeconfig,
        flags.name,
        not flags.listen,
        manifests,
        first,
        tuple(given_arguments(context, *OWN)),
    )
    with asyncio.Runner(loop_factory=loop_factory()) as runner, options.claimed():
        runner.run(serve_cluster(config, options))


def _detach(name: str, context: click.Context) -> None:
    record = start_detached(name, given_arguments(context, "detach", "name"))
    click.echo(connection_words(name, record, ClusterRecords(os.environ).log_of(name)), err=True)
    click.echo(export_line(record))


def _salvage(folder: Path) -> None:
    """Set aside what is damaged, and name it."""
    # SQLite is loaded by those who use it.
    from quintant.cluster.instance.check_documents import salvage_cluster

    found, aside = salvage_cluster(folder)
    for damage in (*found.corrupt, *found.complaints):
        click.echo(f"left out: {damage}", err=True)
    if aside is not None:
        click.echo(f"what was there is kept in {aside}", err=True)
