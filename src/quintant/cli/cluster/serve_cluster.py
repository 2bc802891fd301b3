"""What `quintant up` does once its options are read: a cluster, its way in, and its record."""

from __future__ import annotations

import os
import shlex
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from pathlib import Path

import click
from msgspec import Struct
from msgspec.structs import replace

from quintant.cli.apply.loading import apply_at_start
from quintant.cli.apply.manifest_files import Manifest
from quintant.cli.cluster.kubectl import kubectl_advice
from quintant.cli.cluster.signals import stop_event
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Snapshot
from quintant.cluster.instance.cluster import (
    Cluster,
    ClusterConfig,
    persistent,
    run_cluster,
    save_kubeconfig,
)
from quintant.cluster.instance.kubeconfig import usual_path
from quintant.cluster.instance.readiness import wait_ready
from quintant.cluster.instance.records import ClusterRecord, ClusterRecords
from quintant.core.clock import SystemClock
from quintant.core.errors import AddressInUse
from quintant.core.gc import freeze_heap, gc_disabled
from quintant.version import KUBERNETES


class UpOptions(Struct, frozen=True):
    """What the command line asks for, beside what the cluster itself is."""

    folder: Path | None
    power: bool
    kubeconfig: Path | None
    printed: bool
    name: str
    any_port: bool
    """Whether another port is as good, if the usual one is taken."""
    manifests: tuple[Manifest, ...] = ()
    """What to apply before it is ready."""
    snapshot: Snapshot | None = None
    """What it begins with, instead of nothing."""
    arguments: tuple[str, ...] = ()
    """What a fork of it is started with."""

    def path(self, port: int) -> Path:
        """Where the kubeconfig goes."""
        folder = self.folder
        if folder is None and self.name:
            folder = ClusterRecords(os.environ).folder_of(self.name)
        return self.kubeconfig or (
            folder / "kubeconfig" if folder else usual_path(os.environ, port)
        )

    def claimed(self) -> AbstractContextManager[object]:
        """Have the cluster's name, if it has one, for as long as the context lasts."""
        return ClusterRecords(os.environ).claim(self.name) if self.name else nullcontext()

    def announce(self, cluster: Cluster, path: Path) -> None:
        """Let others know that it is ready."""
        if self.name:
            ClusterRecords(os.environ).announce(
                self.name,
                ClusterRecord(
                    os.getpid(),
                    cluster.url,
                    str(path),
                    SystemClock().now().timestamp(),
                    str(self.folder.absolute()) if self.folder else "",
                    self.arguments,
                ),
            )


async def serve_cluster(plan: ClusterConfig, wishes: UpOptions) -> None:
    """Run a cluster until Ctrl-C."""
    stopped = stop_event()
    async with AsyncExitStack() as stack:
        with gc_disabled():
            if wishes.folder:
                store = persistent(plan, wishes.folder, power=wishes.power)
                plan = await stack.enter_async_context(store)
            elif wishes.snapshot is not None:
                plan = replace(plan, store=RevisionStore.of(wishes.snapshot))
            cluster = await _started(stack, plan, wishes)
            freeze_heap()
        way = _way(cluster, wishes)
        if wishes.manifests:
            await apply_at_start(cluster.server, wishes.manifests)
        if wishes.name:
            await wait_ready(cluster, plan)
            wishes.announce(cluster, wishes.path(cluster.address.port).absolute())
        click.echo(_connection_hint(cluster, wishes.folder), err=True)
        if advice := kubectl_advice():
            click.echo(advice, err=True)
        click.echo(way)
        await stopped.wait()
    click.echo("stopped", err=True)


async def _started(stack: AsyncExitStack, plan: ClusterConfig, wishes: UpOptions) -> Cluster:
    """The cluster, at another port if a named one finds the usual one taken."""
    try:
        return await stack.enter_async_context(run_cluster(plan))
    except AddressInUse:
        if not (wishes.name and wishes.any_port):
            raise
    free = replace(plan, address=replace(plan.address, port=0))
    return await stack.enter_async_context(run_cluster(free))


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
