"""Proxier, syncProxyRules: listeners of all Services, kept in line with their routes.

Fronts come and go with their services. A front has one owner: who asks for one that another service
has is served when that one lets go of it. Connections outlive their route; they end with the proxy,
and when it has ended nothing of it listens or is connected.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
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
        self._owners: dict[VirtualServer, Request] = {}
        self._wanted: dict[Request, dict[VirtualServer, ServiceRoute]] = {}
        self._before: dict[VirtualServer, RealServer] = {}

    @property
    def connections(self) -> int:
        """How many TCP connections go through it now."""
        return len(self._sockets) // 2

    @property
    def displaced(self) -> dict[Request, dict[VirtualServer, RealServer]]:
        """The virtual servers that are not where they should be, and where they are, by service."""
        found: dict[Request, dict[VirtualServer, RealServer]] = {}
        for virtual_server, service in sorted(self._owners.items()):
            address = self._listeners[virtual_server].address
            if address != (virtual_server.address, virtual_server.port):
                found.setdefault(service, {})[virtual_server] = address
        return dict(sorted(found.items()))

    def address_of(self, virtual_server: VirtualServer) -> RealServer:
        """Where to connect to reach a virtual server."""
        held = self._listeners.get(virtual_server)
        return (
            held.address
            if held is not None
            else RealServer(virtual_server.address, virtual_server.port)
        )

    def restore(self, mapped: Mapping[VirtualServer, RealServer]) -> None:
        """Let virtual servers be where they were mapped to before, if that can still be had."""
        self._before |= mapped

    async def serve(self, service: Request, routes: Iterable[ServiceRoute]) -> None:
        """Make the routes of a service be these; none, and nothing of it listens."""
        wanted = {
            route.virtual_server: route
            for route in routes
            if route.virtual_server.protocol in (TCP, UDP)
        }
        held = {front for front, owner in self._owners.items() if owner == service}
        self._wanted[service] = wanted
        if not wanted:
            del self._wanted[service]
        for front in held - wanted.keys():
            self._listeners.pop(front).close()
            del self._owners[front]
        for front in [*wanted, *(held - wanted.keys())]:
            await self._open(front)

    async def _open(self, front: VirtualServer) -> None:
        """Serve a front for its owner; if it has none, for the first service that asks for it."""
        owner = self._owners.get(front) or next(
            (service for service in sorted(self._wanted) if front in self._wanted[service]), None
        )
        if owner is None:
            return
        route = self._wanted[owner][front]
        if front not in self._listeners:
            self._listeners[front] = self._opened(route)
            self._owners[front] = owner
        await self._listeners[front].set_route(route)

    def close(self) -> None:
        """End every virtual server and every connection."""
        for held in self._listeners.values():
            held.close()
        self._listeners.clear()
        for near in list(self._sockets):
            near.abort()

    def _opened(self, route: ServiceRoute) -> TcpListener | UdpListener:
        before = self._before.get(route.virtual_server)
        if route.virtual_server.protocol == TCP:
            return TcpListener(route, self._group, self._sockets, before)
        return UdpListener(route, self._group, before)


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
