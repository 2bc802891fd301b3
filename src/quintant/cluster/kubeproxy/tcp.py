"""kube-proxy: TCP at one virtual server: accept, choose a real server, dial it, and join the two.

A virtual server without real servers refuses connections, as a real cluster does: its socket is
bound, so that its address is known and reserved, and nothing listens on it. A real server that
cannot be reached is passed over for the next. Whoever is connected stays so, whatever becomes of
the route.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

from quintant.cluster.kubeproxy.load_balancing import RoundRobinBalancer
from quintant.cluster.kubeproxy.ports import address_of, bind_virtual_server, port_unavailable
from quintant.cluster.kubeproxy.routes import RealServer, ServiceRoute
from quintant.cluster.kubeproxy.splice import SplicedSocket
from quintant.core.clock import monotonic

CONNECT_SECONDS = 5.0
"""How long to wait for one backend: on one machine an answer is there at once, or never."""
BACKLOG = 1024
"""Connections that may wait to be accepted."""


class TcpListener:
    """One TCP virtual server; `sockets` are all connections of the proxy, for whoever ends it."""

    def __init__(
        self, route: ServiceRoute, group: asyncio.TaskGroup, sockets: set[SplicedSocket]
    ) -> None:
        self._balancer = RoundRobinBalancer(route)
        self._group, self._sockets = group, sockets
        self._server: asyncio.Server | None = None
        self._socket: socket.socket | None = bind_virtual_server(route.virtual_server)
        self.address: RealServer = address_of(self._socket)
        """Where it really is."""

    async def set_route(self, route: ServiceRoute) -> None:
        """Send connections to the backends of a route from now on."""
        if route != self._balancer.route:
            self._balancer.route = route
        if route.real_servers and self._server is None:
            await self._listen()
        elif not route.real_servers and self._server is not None:
            self.close()
            self._take(bind_virtual_server(route.virtual_server, self.address))

    def close(self) -> None:
        """Accept nobody any more; those who are connected stay."""
        if self._server is not None:
            self._server.close()
        if self._socket is not None:
            self._socket.close()
        self._server = self._socket = None

    async def _listen(self) -> None:
        try:
            bound = self._listening()
        except OSError as error:
            # Two may bind one port, and the first to listen has it.
            if not port_unavailable(error):
                raise
            self.close()
            self._take(bind_virtual_server(self._balancer.route.virtual_server, taken=self.address))
            bound = self._listening()
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._side, sock=bound, backlog=BACKLOG)

    def _listening(self) -> socket.socket:
        assert self._socket is not None, "a virtual server that has no server is bound"
        self._socket.listen(BACKLOG)
        return self._socket

    def _take(self, bound: socket.socket) -> None:
        self._socket, self.address = bound, address_of(bound)

    def _side(self) -> SplicedSocket:
        return SplicedSocket(self._accepted, self._sockets.discard)

    def _accepted(self, near: SplicedSocket) -> None:
        self._sockets.add(near)
        self._group.create_task(self._serve(near))

    async def _serve(self, near: SplicedSocket) -> None:
        client = near.peer
        for real_server in self._balancer.candidates(client, monotonic()):
            far = await self._dialled(real_server)
            if far is not None:
                self._balancer.remember(client, real_server, monotonic())
                near.splice(far)
                return
        near.abort()

    async def _dialled(self, real_server: RealServer) -> SplicedSocket | None:
        loop = asyncio.get_running_loop()
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(CONNECT_SECONDS):
                _, far = await loop.create_connection(self._far, *real_server)
                return far
        return None

    def _far(self) -> SplicedSocket:
        return SplicedSocket(self._sockets.add, self._sockets.discard)
