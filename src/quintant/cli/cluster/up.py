"""`quintant up`: an embedded Kubernetes-compatible cluster, until Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import shlex
from contextlib import AsyncExitStack
from pathlib import Path

import click
from msgspec import Struct

from quintant.cli.cluster.kubectl import kubectl_advice
from quintant.cli.cluster.signals import stop_event
from quintant.cluster.apiserver.meta.names import dns1123_label_errors
from quintant.cluster.common.labels import NODE
from quintant.cluster.common.node_heartbeat import (
    GRACE_SECONDS,
    SHORTEST_SECONDS,
    HeartbeatTimes,
)
from quintant.cluster.host.command_line import hide_arguments
from quintant.cluster.instance.cluster import (
    USUAL,
    Cluster,
    ClusterConfig,
    persistent,
    run_cluster,
    save_kubeconfig,
)
from quintant.cluster.instance.kubeconfig import usual_path
from quintant.cluster.kubelet.container.images import load_image_table as programs
from quintant.cluster.kubelet.options import NodeOptions
from quintant.cluster.simulated.fleet import Fleet
from quintant.cluster.simulated.stages import load_stages
from quintant.core.address import BindAddress
from quintant.core.gc import freeze_heap, gc_disabled
from quintant.core.options import DURATION
from quintant.runtime.manager.loops import loop_factory
from quintant.runtime.observe import logs
from quintant.version import KUBERNETES


@click.command("up")
@click.option(
    "--listen", default=str(USUAL), show_default=True, help="host:port; port 0 is any free one."
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
@click.option("--kubeconfig", type=click.Path(path_type=Path), help="Where to write the way in.")
@click.option("--print-kubeconfig", is_flag=True, help="Print the way in and write no file.")
@click.option("--nodes", default=0, show_default=True, help="How many simulated nodes to add.")
@click.option("--zones", default=3, show_default=True, help="Over how many zones they are spread.")
@click.option(
    "--stages", type=click.Path(path_type=Path), help="What happens to simulated pods, as YAML."
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
def command(
    listen: str,
    data_dir: Path | None,
    power_safe: bool,
    salvage: bool,
    kubeconfig: Path | None,
    print_kubeconfig: bool,
    nodes: int,
    zones: int,
    stages: Path | None,
    images: Path | None,
    process_nodes: str,
    node_grace: str,
    allow_host_path: bool,
    no_node: bool,
    api_only: bool,
) -> None:
    """Run an embedded cluster until Ctrl-C.

    It speaks the Kubernetes API with TLS and roles: for laptops, demos and tests, never for
    production. With a data directory the next start goes on where this one ends, however it ends.
    """
    if power_safe and not data_dir:
        raise click.UsageError("--power-safe needs --data-dir")
    if salvage and not data_dir:
        raise click.UsageError("--salvage needs --data-dir")
    if kubeconfig and print_kubeconfig:
        raise click.UsageError("--kubeconfig and --print-kubeconfig exclude each other")
    if nodes < 0 or zones < 1:
        raise click.UsageError("--nodes is at least 0, and --zones at least 1")
    if process_nodes and (no_node or api_only):
        raise click.UsageError("--process-nodes needs the node: neither --no-node nor --api-only")
    # Both lead to the administrator's key, and pods read command lines.
    hide_arguments([str(path) for path in (kubeconfig, data_dir) if path])
    plan = ClusterConfig(
        BindAddress.parse(listen),
        controllers=not api_only,
        fleet=None if api_only else Fleet(nodes, zones),
        stages=load_stages(stages) if stages else (),
        node=None
        if api_only or no_node
        else NodeOptions(
            programs(images) if images else (),
            allow_host_path,
            process_nodes=parse_node_names(process_nodes),
        ),
        times=parse_grace(node_grace),
    )
    # What the parts of a cluster say in passing is not what its user asked for.
    logs.configure(level="error")
    if salvage and data_dir:
        _salvage(data_dir)
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_up(plan, UpOptions(data_dir, power_safe, kubeconfig, print_kubeconfig)))


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


class UpOptions(Struct, frozen=True):
    """What the command line asks for, beside what the cluster itself is."""

    folder: Path | None
    power: bool
    kubeconfig: Path | None
    printed: bool

    def path(self, port: int) -> Path:
        """Where the kubeconfig goes."""
        usual = self.folder / "kubeconfig" if self.folder else usual_path(os.environ, port)
        return self.kubeconfig or usual


async def _up(plan: ClusterConfig, wishes: UpOptions) -> None:
    stopped = stop_event()
    async with AsyncExitStack() as stack:
        with gc_disabled():
            if wishes.folder:
                store = persistent(plan, wishes.folder, power=wishes.power)
                plan = await stack.enter_async_context(store)
            cluster = await stack.enter_async_context(run_cluster(plan))
            freeze_heap()
        way = _way(cluster, wishes)
        click.echo(_connection_hint(cluster, wishes.folder), err=True)
        if advice := kubectl_advice():
            click.echo(advice, err=True)
        click.echo(way)
        await stopped.wait()
    click.echo("stopped", err=True)


def _way(cluster: Cluster, wishes: UpOptions) -> str:
    """The way in, or how to use the file it was written to."""
    if wishes.printed:
        return cluster.kubeconfig.reveal().decode().rstrip()
    path = wishes.path(cluster.address.port).absolute()
    save_kubeconfig(cluster, path)
    return f"export KUBECONFIG={shlex.quote(str(path))}"


def _connection_hint(cluster: Cluster, folder: Path | None) -> str:
    message = f"serving Kubernetes {KUBERNETES} at {cluster.url}, in {folder or 'memory'}"
    if cluster.private:
        return f"{message}, for this machine only"
    return (
        f"{message}\nwarning: {cluster.address} can be reached from other machines; "
        "whoever has the kubeconfig may do everything"
    )
