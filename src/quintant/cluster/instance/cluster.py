"""A cluster in this process: the API server over HTTPS, with roles enforced, and a way in.

With controllers it does with its objects what a cluster does; without, it only keeps them. Whoever
holds the kubeconfig is its administrator, by a client certificate. Keys are new at every start
unless they are given; objects live in memory unless a store is. `persistent` gives both.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from quintant.cluster.apiserver.server.https import LOOPBACK
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.common.node_heartbeat import HeartbeatTimes
from quintant.cluster.common.volume_paths import ROOT as STORAGE
from quintant.cluster.instance.cluster_clock import ClusterClock
from quintant.cluster.instance.control_plane import ControlPlane
from quintant.cluster.instance.kubeconfig import kubeconfig, write_kubeconfig
from quintant.cluster.instance.pki import ClusterKeys
from quintant.cluster.instance.prepared_server import prepare_server, server_url
from quintant.cluster.instance.snapshots import ClusterSnapshots
from quintant.cluster.kubelet.options import NodeOptions
from quintant.cluster.simulated.fleet import Fleet
from quintant.cluster.simulated.stages import Stage
from quintant.core.address import BindAddress
from quintant.core.clock import AdvancedClock, Clock, SystemClock
from quintant.keys.sensitive import Sensitive

if TYPE_CHECKING:
    from quintant.cluster.kubelet.local_node import LocalNode

PORT = 7443
"""Beside the usual 6443, so that a cluster which runs there already is no obstacle."""
USUAL = BindAddress(LOOPBACK, PORT)
KEYS = "pki"
"""Where in a folder the keys of a cluster are kept."""


class ClusterConfig(Struct, frozen=True):
    """What to start: where it listens, and what it goes on from."""

    address: BindAddress = USUAL
    keys: ClusterKeys | None = None
    store: RevisionStore | None = None
    controllers: bool = False
    """Whether workloads become pods, and whatever else kube-controller-manager does."""
    fleet: Fleet | None = None
    """Its simulated nodes; with None, pods are neither scheduled nor simulated."""
    stages: tuple[Stage, ...] = ()
    """What happens to simulated pods beside the usual."""
    completion: float | None = None
    """After how many seconds simulated pods end that are not restarted for ever; None lets those
    run whose commands do not say."""
    node: NodeOptions | None = None
    """This machine as a node that runs pods as processes; None leaves it out."""
    times: HeartbeatTimes = HeartbeatTimes()
    """How long a node may be silent, and how often it says that it is alive."""
    name: str = ""
    """What its snapshots say that they are of."""

    @property
    def has_components(self) -> bool:
        """Whether something runs beside the server."""
        return self.controllers or self.node is not None or self.fleet is not None


class Cluster(Struct, frozen=True):
    """A cluster that answers."""

    server: ApiServer
    address: BindAddress
    """Where it really listens: the port was chosen."""
    kubeconfig: Sensitive[bytes]
    """The way in for its administrator."""
    snapshots: ClusterSnapshots
    """Takes its objects away, and brings them back."""
    node: LocalNode | None = None
    """The node that runs pods as processes, if there is one."""

    @property
    def url(self) -> str:
        """Where to reach it from this machine."""
        return server_url(self.address)

    @property
    def private(self) -> bool:
        """Whether it can be reached from this machine only."""
        return is_loopback(self.address.host)


@asynccontextmanager
async def run_cluster(
    config: ClusterConfig = ClusterConfig(), clock: Clock = SystemClock()
) -> AsyncIterator[Cluster]:
    """A cluster for as long as the context lasts; ConfigError if its address cannot be had."""
    time = AdvancedClock(clock)
    async with AsyncExitStack() as stack:
        prepared = await prepare_server(stack, config, time)
        server, node = prepared.server, await prepared.node(stack)
        if node is not None:
            server.logs.providers.extend(node.logs)
            server.streams.runtimes.extend(node.runtimes)
        if config.fleet is not None:
            server.metrics.open()
        plane = ControlPlane(lambda: prepared.run_components(node))
        if config.has_components:
            await stack.enter_async_context(plane.running())
        stopped = plane.stopped if config.has_components else nullcontext
        snapshots = prepared.snapshots(stopped)
        snapshots.serve()
        ClusterClock(server, time, stopped).serve()
        if node is not None:
            # First of all: programs that start take the time that others need to end.
            stack.callback(node.stop_starting)
        way = kubeconfig(server_url(prepared.address), prepared.pki)
        yield Cluster(server, prepared.address, way, snapshots, node)


@asynccontextmanager
async def persistent(
    config: ClusterConfig, folder: Path, *, power: bool = False, clock: Clock = SystemClock()
) -> AsyncIterator[ClusterConfig]:
    """The same with keys and objects that stay in a folder, for as long as the context lasts.

    With `power`, what was acknowledged outlives a power failure, too. ConfigError if the folder
    cannot be used; Broken, after cancelling what runs inside, when it cannot be written any more.
    """
    # SQLite is loaded by those who use it.
    from quintant.cluster.apiserver.storage.durable import open_durable_store
    from quintant.cluster.apiserver.storage.sqlite import SyncMode
    from quintant.cluster.instance.check_documents import check_documents

    async with open_durable_store(folder, SyncMode.FULL if power else SyncMode.NORMAL) as store:
        check_documents(store, folder)
        # Only now: the open store keeps a second server away from the keys as well.
        keys, node = ClusterKeys.load_or_generate(folder / KEYS, clock.now()), config.node
        if node is not None:
            node = replace(node, storage=folder / STORAGE)
        yield replace(config, keys=keys, store=store, node=node)


def save_kubeconfig(cluster: Cluster, path: Path) -> None:
    """Write a cluster's kubeconfig; ConfigError rather than overwrite somebody else's."""
    write_kubeconfig(cluster.kubeconfig, path)


def is_loopback(host: str) -> bool:
    """Whether an address is of this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
