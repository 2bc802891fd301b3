"""ProxyServer: the component `kube-proxy`: Services are reached and named while it runs.

It reads services and EndpointSlices like anybody who may, and writes one thing: the table of ports
that had to be mapped, as the ConfigMap `service-ports` in kube-system, for people to read, and for
its next run, which maps them to the same.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from quintant.agents import dns
from quintant.agents.dns.resolver import DOMAIN, SEARCH_VARIABLE, SERVER_VARIABLE
from quintant.api.core import ConfigMap, Service
from quintant.api.discovery import SERVICE_LABEL, EndpointSlice
from quintant.api.meta import ObjectMeta
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.component.component import Component, run_component
from quintant.cluster.host.loopback import LoopbackShare
from quintant.cluster.kubeproxy.dns.server import serve_dns
from quintant.cluster.kubeproxy.dns.zone import Zone, service_records
from quintant.cluster.kubeproxy.port_table import format_table, parse_table
from quintant.cluster.kubeproxy.proxy import Proxy, running_proxy
from quintant.cluster.kubeproxy.routes import RealServer, service_routes
from quintant.core.clock import Clock, Random
from quintant.core.object import Request
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import KeyContext

NAME = "kube-proxy"
TABLE = ObjectMeta(name="service-ports", namespace="kube-system")
_TABLE_KEY = Request(TABLE.name, TABLE.namespace)
_SITE = Path(dns.__file__).parent / "site"


class ServiceNetwork(Struct):
    """Services of a cluster that can be dialled and found by name; made by `service_network`."""

    proxy: Proxy
    zone: Zone
    dns_server: RealServer
    share: LoopbackShare
    """Where services and node ports are, and nothing else is listened on."""
    _written: dict[str, str] | None = None
    _restored: bool = False

    def environment(self, namespace: str) -> dict[str, str]:
        """What tells a program in a pod of a namespace how names are found.

        PYTHONPATH is to be put before what the program would have.
        """
        search = (f"{namespace}.svc.{DOMAIN}", f"svc.{DOMAIN}", DOMAIN)
        return {
            SERVER_VARIABLE: f"{self.dns_server.address}:{self.dns_server.port}",
            SEARCH_VARIABLE: " ".join(search),
            "PYTHONPATH": str(_SITE),
        }

    def manager(self) -> Manager:
        """The controller that keeps it in line with the objects of a cluster."""
        manager = Manager(NAME)
        (
            manager.keyed(NAME)
            .watches(Service, to=lambda service: (service.key,))
            .watches(EndpointSlice, to=_service)
            .watches(
                ConfigMap,
                to=lambda _: (_TABLE_KEY,),
                fields={"metadata.name": TABLE.name},
                namespaces=(TABLE.namespace,),
            )
            .uses(ConfigMap, "get", "create", "patch")
            .workers(1)
            .reconcile(self.reconcile)
        )
        return manager

    async def reconcile(self, request: Request, ctx: KeyContext) -> None:
        """Bring listeners, names and the table in line with one service."""
        if not self._restored:
            self._written = await self._restore(ctx.client)
            self._restored = True
        elif request == _TABLE_KEY:
            # A restore of the cluster, or somebody, may have written another one.
            self._written = await self._read(ctx.client)
        service = await ctx.client.find(Service, *request)
        slices = await ctx.client.list(
            EndpointSlice, request.namespace, labels={SERVICE_LABEL: request.name}
        )
        await self.proxy.serve(
            request, service_routes(service, slices, self.share) if service else ()
        )
        found = service_records(service, slices, self.proxy.address_of) if service else ()
        self.zone.put(request, found)
        table = format_table(self.proxy.displaced)
        if table != self._written:
            await ctx.client.apply(ConfigMap(metadata=TABLE, data=table))
            self._written = table

    async def _restore(self, client: Client) -> dict[str, str] | None:
        """Map ports to where an earlier run of the cluster had them; the table it left."""
        table = await self._read(client)
        self.proxy.restore(parse_table(table or {}))
        return table

    async def _read(self, client: Client) -> dict[str, str] | None:
        """The table that the cluster has."""
        found = await client.find(ConfigMap, TABLE.name, TABLE.namespace, live=True)
        return None if found is None else dict(found.data)


@asynccontextmanager
async def service_network(
    server: ApiServer, share: LoopbackShare, clock: Clock, random: Random
) -> AsyncIterator[ServiceNetwork]:
    """Let the services of a cluster be dialled and named for as long as the context lasts."""
    zone = Zone()
    async with running_proxy() as proxy, serve_dns(zone) as nameserver:
        network = ServiceNetwork(proxy, zone, nameserver, share)
        async with run_component(server, Component(network.manager()), clock, random):
            yield network


def _service(slice: EndpointSlice) -> Iterable[Request]:
    name = slice.metadata.labels.get(SERVICE_LABEL)
    return (Request(name, slice.metadata.namespace),) if name else ()
