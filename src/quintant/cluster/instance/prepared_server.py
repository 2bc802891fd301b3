"""PrepareRun: a server that answers, and what is made around it.

That is its node, its components and its snapshots.

Between a configuration and the cluster that comes of it (quintant.cluster.instance.cluster). What a
cluster does not have is not loaded.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from quintant.cluster.apiserver.server.https import LOOPBACK, serve, serve_endpoint
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.component.component import Component, run_component
from quintant.cluster.host.loopback import FIRST, LoopbackShare, claim_share
from quintant.cluster.instance.kubernetes_service import advertise
from quintant.cluster.instance.pki import EVERYWHERE, ClusterKeys, Pki, issue_certificates
from quintant.cluster.instance.renumber import api_service_ip, renumber_services
from quintant.cluster.instance.snapshots import ClusterSnapshots, Stopped
from quintant.core.address import BindAddress
from quintant.core.clock import Clock, Random
from quintant.keys.authority import Authority

if TYPE_CHECKING:
    from quintant.cluster.instance.cluster import ClusterConfig
    from quintant.cluster.kubelet.local_node import LocalNode
    from quintant.cluster.simulated.fleet import Fleet


async def prepare_server(
    stack: AsyncExitStack, config: ClusterConfig, clock: Clock
) -> PreparedServer:
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
        front_proxy=pki.front_proxy,
    )
    listening = serve(server, config.address.host, config.address.port, pki.context())
    url = await stack.enter_async_context(listening)
    address = replace(config.address, port=int(url.rpartition(":")[2]))
    await advertise(server, reachable(address), share.services)
    await stack.enter_async_context(server.aggregator.running())
    return PreparedServer(config, share, pki, keys.authority, server, address, clock)


class PreparedServer(Struct, frozen=True):
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
        api = reachable(self.address)
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
            if node is not None and self.config.controllers:
                # Loaded by clusters whose pods can be dialled.
                from quintant.cluster.kubeproxy.ingress.component import running_ingress

                ingress = running_ingress(
                    self.server, self.share.host, self.authority, self.clock, Random()
                )
                await stack.enter_async_context(ingress)
            yield

    def snapshots(self, stopped: Stopped) -> ClusterSnapshots:
        """What takes and restores its objects, and makes restored ones fit this cluster."""

        async def prepare() -> None:
            renumber_services(self.server.store, self.share.services)
            await advertise(self.server, reachable(self.address), self.share.services)

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
            completion=self.config.completion,
            locate=locate,
            host=self.share.host,
            clock=self.clock,
            times=self.config.times,
        )


def server_url(address: BindAddress) -> str:
    """Where a server that listens there is reached from this machine."""
    return f"https://{reachable(address)}"


def reachable(address: BindAddress) -> BindAddress:
    """An address as programs of this machine dial it."""
    return replace(address, host=LOOPBACK) if address.host in EVERYWHERE else address
