"""`quintant up`: an embedded Kubernetes-compatible cluster, until Ctrl-C."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import click

from quintant.cli.apply.loading import load_manifests
from quintant.cli.cluster.detach import (
    connection_words,
    export_line,
    given_arguments,
    start_detached,
)
from quintant.cli.cluster.serve_cluster import UpOptions, serve_cluster
from quintant.cluster.apiserver.meta.names import dns1123_label_errors
from quintant.cluster.apiserver.registry.inert_kinds import inert_names
from quintant.cluster.common.labels import NODE
from quintant.cluster.common.node_heartbeat import (
    GRACE_SECONDS,
    SHORTEST_SECONDS,
    HeartbeatTimes,
)
from quintant.cluster.host.command_line import hide_arguments
from quintant.cluster.instance.cluster import USUAL, ClusterConfig
from quintant.cluster.instance.records import DEFAULT, ClusterRecords
from quintant.cluster.instance.snapshot_files import load_snapshot
from quintant.cluster.kubelet.container.images import load_image_table as programs
from quintant.cluster.kubelet.options import NodeOptions
from quintant.cluster.simulated.fleet import Fleet
from quintant.cluster.simulated.stages import load_stages
from quintant.core.address import BindAddress
from quintant.core.options import DURATION
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
def command(
    context: click.Context,
    name: str,
    detach: bool,
    listen: str,
    data_dir: Path | None,
    power_safe: bool,
    salvage: bool,
    from_snapshot: Path | None,
    kubeconfig: Path | None,
    print_kubeconfig: bool,
    nodes: int,
    zones: int,
    stages: Path | None,
    simulate_completion: float | None,
    images: Path | None,
    process_nodes: str,
    node_grace: str,
    allow_host_path: bool,
    no_node: bool,
    api_only: bool,
    load: tuple[Path, ...],
) -> None:
    """Run an embedded cluster until Ctrl-C, or in the background.

    It speaks the Kubernetes API with TLS and roles: for laptops, demos and tests, never for
    production. With a data directory the next start goes on where this one ends, however it ends.
    """
    if power_safe and not data_dir:
        raise click.UsageError("--power-safe needs --data-dir")
    if salvage and not data_dir:
        raise click.UsageError("--salvage needs --data-dir")
    if from_snapshot and data_dir:
        raise click.UsageError("--from-snapshot and --data-dir exclude each other")
    if kubeconfig and print_kubeconfig:
        raise click.UsageError("--kubeconfig and --print-kubeconfig exclude each other")
    if detach and print_kubeconfig:
        raise click.UsageError("--detach and --print-kubeconfig exclude each other")
    if nodes < 0 or zones < 1:
        raise click.UsageError("--nodes is at least 0, and --zones at least 1")
    if process_nodes and (no_node or api_only):
        raise click.UsageError("--process-nodes needs the node: neither --no-node nor --api-only")
    # They lead to keys and Secrets, and pods read command lines.
    hide_arguments([str(path) for path in (kubeconfig, data_dir, from_snapshot) if path])
    plan = ClusterConfig(
        BindAddress.parse(listen) if listen else USUAL,
        controllers=not api_only,
        fleet=None if api_only else Fleet(nodes, zones),
        stages=load_stages(stages) if stages else (),
        completion=simulate_completion,
        node=None
        if api_only or no_node
        else NodeOptions(
            programs(images) if images else (),
            allow_host_path,
            process_nodes=parse_node_names(process_nodes),
        ),
        times=parse_grace(node_grace),
        name=name,
    )
    first = load_snapshot(from_snapshot) if from_snapshot else None
    manifests = load_manifests(load)
    if detach:
        _detach(name or DEFAULT, context)
        return
    # What the parts of a cluster say in passing is not what its user asked for.
    logs.configure(level="error")
    if salvage and data_dir:
        _salvage(data_dir)
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        wishes = UpOptions(
            data_dir,
            power_safe,
            kubeconfig,
            print_kubeconfig,
            name,
            not listen,
            manifests,
            first,
            tuple(given_arguments(context, *OWN)),
        )
        with wishes.claimed():
            runner.run(serve_cluster(plan, wishes))


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


def parse_node_names(text: str) -> tuple[str, ...]:
    """The names in a list with commas; UsageError if they are no names of nodes."""
    names = tuple(text.split(",")) if text else ()
    for name in names:
        if dns1123_label_errors(name) or name == NODE or names.count(name) > 1:
            raise click.UsageError(
                f"--process-nodes {text}: {name!r} is no name for a further node; "
                "try --process-nodes paris,berlin"
            )
    return names


def parse_grace(text: str) -> HeartbeatTimes:
    """The times that follow from a grace; UsageError if it is too short, or none."""
    try:
        seconds = DURATION.parse(text)
    except ValueError:
        seconds = 0.0
    if seconds < SHORTEST_SECONDS:
        raise click.UsageError(
            f"--node-grace {text}: expected a duration of {SHORTEST_SECONDS:g}s or more, as 5s"
        )
    return HeartbeatTimes(seconds)
