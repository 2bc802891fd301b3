"""A cluster in this process: the API server over HTTPS, with roles enforced, and a way in.

With controllers it does with its objects what a cluster does; without, it only keeps them. Whoever
holds the kubeconfig is its administrator, by a client certificate. Keys are new at every start
unless they are given; objects live in memory unless a store is. `persistent` gives both.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from quintant.cluster.apiserver.server.https import LOOPBACK, serve, serve_endpoint
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.common.node_heartbeat import HeartbeatTimes
from quintant.cluster.common.volume_paths import ROOT as STORAGE
from quintant.cluster.component.component import Component, run_component
from quintant.cluster.host.loopback import FIRST, LoopbackShare, claim_share
from quintant.cluster.instance.control_plane import ControlPlane
from quintant.cluster.instance.kubeconfig import kubeconfig, write_kubeconfig
from quintant.cluster.instance.kubernetes_service import advertise
from quintant.cluster.instance.pki import EVERYWHERE, ClusterKeys, Pki, issue_certificates
from quintant.cluster.instance.renumber import api_service_ip, renumber_services
from quintant.cluster.instance.snapshots import ClusterSnapshots, Stopped
from quintant.cluster.kubelet.options import NodeOptions
from quintant.cluster.simulated.fleet import Fleet
from quintant.cluster.simulated.stages import Stage
from quintant.core.address import BindAddress
from quintant.core.clock import Clock, Random, SystemClock
from quintant.keys.authority import Authority
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
        return _url(self.address)

    @property
    def private(self) -> bool:
        """Whether it can be reached from this machine only."""
        return is_loopback(self.address.host)


@asynccontextmanager
async def run_cluster(
    config: ClusterConfig = ClusterConfig(), clock: Clock = SystemClock()
) -> AsyncIterator[Cluster]:
    """A cluster for as long as the context lasts; ConfigError if its address cannot be had."""
    async with AsyncExitStack() as stack:
        site = await _opened(stack, config, clock)
        server, node = site.server, await site.node(stack)
        if node is not None:
            server.logs.providers.extend(node.logs)
            server.streams.runtimes.extend(node.runtimes)
        if config.fleet is not None:
            server.metrics.open()
        plane = ControlPlane(lambda: site.run_components(node))
        if config.has_components:
            await stack.enter_async_context(plane.running())
        snapshots = site.snapshots(plane.stopped if config.has_components else nullcontext)
        snapshots.serve()
        if node is not None:
            # First of all: programs that start take the time that others need to end.
            stack.callback(node.stop_starting)
        way = kubeconfig(_url(site.address), site.pki)
        yield Cluster(server, site.address, way, snapshots, node)


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


async def _opened(stack: AsyncExitStack, config: ClusterConfig, clock: Clock) -> _Site:
    """The server of a configuration, once it answers, for as long as the stack lasts."""
    now, store = clock.now(), config.store or RevisionStore()
    keys = config.keys or ClusterKeys.generate(now)
    # Only who runs something has something to dial.
    share = (
        FIRST if config.node is None else stack.enter_context(claim_share(api_service_ip(store)))
    )
    renumber_services(store, share.services)
    pki = issue_certificates(keys, (config.address.host, share.api), now)
    server = ApiServer(
        clock=clock,
        rbac=True,
        store=store,
        key=keys.signing,
        managed=config.controllers,
        services=share.services,
    )
    listening = serve(server, config.address.host, config.address.port, pki.context())
    url = await stack.enter_async_context(listening)
    address = replace(config.address, port=int(url.rpartition(":")[2]))
    await advertise(server, _reachable(address), share.api)
    return _Site(config, share, pki, keys.authority, server, address, clock)


class _Site(Struct, frozen=True):
    """A server that answers, and what its cluster is to be."""

    config: ClusterConfig
    share: LoopbackShare
    pki: Pki
    authority: Authority
    server: ApiServer
    address: BindAddress
    clock: Clock

    async def node(self, stack: AsyncExitStack) -> LocalNode | None:
        """This machine as a node, if the configuration has it; its programs end with the stack."""
        if self.config.node is None:
            return None
        # Loaded by clusters that run something.
        from quintant.cluster.kubelet.cluster_access import ClusterAccess
        from quintant.cluster.kubelet.local_node import local_node
        from quintant.cluster.kubeproxy.component import service_network

        # Services are there as long as programs are, and a little longer.
        opened = service_network(self.server, self.share, self.clock, Random())
        network = await stack.enter_async_context(opened)
        api = _reachable(self.address)
        access = ClusterAccess(
            self.server,
            api,
            lambda: serve_endpoint(self.server, api.host, self.pki.context()),
            network.environment,
            self.clock,
            Random(),
            self.config.times,
        )
        made = local_node(self.config.node, self.share, access)
        return await stack.enter_async_context(made)

    def components(self, node: LocalNode | None) -> Iterator[Component]:
        """What runs beside the server."""
        if node is not None:
            yield node.component
        if self.config.controllers:
            yield from self._workers(node)
        if self.config.fleet is not None:
            yield from self._fleet(self.config.fleet, node)

    @asynccontextmanager
    async def run_components(self, node: LocalNode | None) -> AsyncIterator[None]:
        """Make what runs beside the server, and have it at work while the context lasts."""
        async with AsyncExitStack() as stack:
            for component in self.components(node):
                started = run_component(self.server, component, self.clock, Random())
                await stack.enter_async_context(started)
            yield

    def snapshots(self, stopped: Stopped) -> ClusterSnapshots:
        """What takes and restores its objects, and makes restored ones fit this cluster."""

        async def prepare() -> None:
            renumber_services(self.server.store, self.share.services)
            await advertise(self.server, _reachable(self.address), self.share.api)

        return ClusterSnapshots(self.server, self.clock, self.config.name, stopped, prepare)

    def _workers(self, node: LocalNode | None) -> Iterator[Component]:
        # Loaded by clusters that do something with their objects.
        from quintant.cluster.controllers import controllers
        from quintant.cluster.volumes.component import csi_driver
        from quintant.cluster.volumes.directories import Directories, NoDirectories

        yield Component(controllers(self.authority, self.config.times))
        yield csi_driver(Directories(node.storage) if node is not None else NoDirectories())

    def _fleet(self, fleet: Fleet, node: LocalNode | None) -> Iterator[Component]:
        # Loaded by clusters that have nodes.
        from quintant.cluster.kubelet.container.images import Images
        from quintant.cluster.scheduler import scheduler
        from quintant.cluster.simulated.component import simulator

        locate = (node.images if node is not None else Images()).locate
        yield scheduler(locate)
        yield simulator(
            fleet,
            stages=self.config.stages,
            locate=locate,
            host=self.share.host,
            clock=self.clock,
            times=self.config.times,
        )


def _url(address: BindAddress) -> str:
    return f"https://{_reachable(address)}"


def _reachable(address: BindAddress) -> BindAddress:
    """An address as programs of this machine dial it."""
    return replace(address, host=LOOPBACK) if address.host in EVERYWHERE else address
