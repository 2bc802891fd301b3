"""All services of a cluster, listening: kept in line with their routes, one service at a time.

Fronts come and go with their services. Connections outlive their route; they end with the proxy,
and when it has ended nothing of it listens or is connected.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from quintant.cluster.kubeproxy.routes import TCP, UDP, RealServer, ServiceRoute, VirtualServer
from quintant.cluster.kubeproxy.splice import SplicedSocket
from quintant.cluster.kubeproxy.tcp import TcpListener
from quintant.cluster.kubeproxy.udp import UdpListener
from quintant.core.object import Request


class Proxy:
    """The virtual servers of all services; made by `running_proxy`."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group
        self._sockets: set[SplicedSocket] = set()
        self._listeners: dict[VirtualServer, TcpListener | UdpListener] = {}
        self._owned: dict[Request, frozenset[VirtualServer]] = {}

    @property
    def connections(self) -> int:
        """How many TCP connections go through it now."""
        return len(self._sockets) // 2

    @property
    def displaced(self) -> dict[Request, dict[VirtualServer, RealServer]]:
        """The virtual servers that are not where they should be, and where they are, by service."""
        found = {
            service: {
                virtual_server: place
                for virtual_server in sorted(virtual_servers)
                if (place := self._listeners[virtual_server].place)
                != (virtual_server.address, virtual_server.port)
            }
            for service, virtual_servers in self._owned.items()
        }
        return {service: moved for service, moved in sorted(found.items()) if moved}

    def address_of(self, virtual_server: VirtualServer) -> RealServer:
        """Where to connect to reach a virtual server."""
        held = self._listeners.get(virtual_server)
        return (
            held.place
            if held is not None
            else RealServer(virtual_server.address, virtual_server.port)
        )

    async def serve(self, service: Request, routes: Iterable[ServiceRoute]) -> None:
        """Make the routes of a service be these; none, and nothing of it listens."""
        wanted = {
            route.virtual_server: route
            for route in routes
            if route.virtual_server.protocol in (TCP, UDP)
        }
        for virtual_server in self._owned.get(service, frozenset()) - wanted.keys():
            self._listeners.pop(virtual_server).close()
        self._owned[service] = frozenset()
        for virtual_server, route in wanted.items():
            if virtual_server not in self._listeners:
                self._listeners[virtual_server] = self._opened(route)
            self._owned[service] |= {virtual_server}
            await self._listeners[virtual_server].set_route(route)
        if not wanted:
            del self._owned[service]

    def close(self) -> None:
        """End every virtual server and every connection."""
        for held in self._listeners.values():
            held.close()
        self._listeners.clear()
        for near in list(self._sockets):
            near.abort()

    def _opened(self, route: ServiceRoute) -> TcpListener | UdpListener:
        if route.virtual_server.protocol == TCP:
            return TcpListener(route, self._group, self._sockets)
        return UdpListener(route, self._group)


@asynccontextmanager
async def running_proxy() -> AsyncIterator[Proxy]:
    """A proxy without services, for as long as the context lasts."""
    async with asyncio.TaskGroup() as group:
        proxy = Proxy(group)
        try:
            yield proxy
        finally:
            proxy.close()
            # Transports close their sockets in the next turn of the loop.
            await asyncio.sleep(0)
