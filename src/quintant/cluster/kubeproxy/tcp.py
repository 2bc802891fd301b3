"""kube-proxy: TCP at one virtual server: accept, choose a real server, dial it, and join the two.

A virtual server without real servers refuses connections, as a real cluster does: its socket is
bound, so that its address is known and reserved, and nothing listens on it. A real server that
cannot be reached is passed over for the next. Whoever is connected stays so, whatever becomes of
the route.
"""

from __future__ import annotations

import asyncio
import errno
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
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
"""Nothing can be accepted for now, and what waits would wake the loop again at once."""
EXHAUSTED_SECONDS = 1.0
"""How long to wait then, as asyncio's own servers do."""


class TcpListener:
    """One TCP virtual server; `sockets` are all connections of the proxy, for whoever ends it.

    `before` is where it was in an earlier run.
    """

    def __init__(
        self,
        route: ServiceRoute,
        group: asyncio.TaskGroup,
        sockets: set[SplicedSocket],
        before: RealServer | None = None,
    ) -> None:
        self._balancer = RoundRobinBalancer(route)
        self._group, self._sockets = group, sockets
        self._accepting = False
        self._resumption: asyncio.TimerHandle | None = None
        self._socket = bind_virtual_server(route.virtual_server, before)
        self.address: RealServer = address_of(self._socket)
        """Where it really is."""

    async def set_route(self, route: ServiceRoute) -> None:
        """Send connections to the backends of a route from now on."""
        if route != self._balancer.route:
            self._balancer.route = route
        if route.real_servers and not self._accepting:
            self._listen()
        elif not route.real_servers and self._accepting:
            self.close()
            self._take(bind_virtual_server(route.virtual_server, self.address))

    def close(self) -> None:
        """Accept nobody any more; those who are connected stay."""
        if self._resumption is not None:
            self._resumption.cancel()
        if self._accepting:
            asyncio.get_running_loop().remove_reader(self._socket)
        self._accepting = False
        self._socket.close()

    def _listen(self) -> None:
        try:
            self._socket.listen(BACKLOG)
        except OSError as error:
            # Two may bind one port, and the first to listen has it.
            if not port_unavailable(error):
                raise
            self.close()
            self._take(bind_virtual_server(self._balancer.route.virtual_server, taken=self.address))
            self._socket.listen(BACKLOG)
        self._accepting = True
        self._resume()

    def _resume(self) -> None:
        # asyncio.Server leaves a connection open that is being accepted while it is closed.
        asyncio.get_running_loop().add_reader(self._socket, self._accept)

    def _take(self, bound: socket.socket) -> None:
        self._socket, self.address = bound, address_of(bound)

    def _accept(self) -> None:
        try:
            connection, _ = self._socket.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError as error:
            if error.errno not in EXHAUSTED:
                raise
            self._pause()
            return
        connection.setblocking(False)
        near = SplicedSocket(self._sockets.add, self._sockets.discard)
        self._sockets.add(near)
        self._group.create_task(self._serve(near, connection))

    def _pause(self) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._socket)
        self._resumption = loop.call_later(EXHAUSTED_SECONDS, self._resume)

    async def _serve(self, near: SplicedSocket, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.connect_accepted_socket(lambda: near, connection)
        except OSError:
            # It broke before anything could be read from it.
            connection.close()
            self._sockets.discard(near)
            return
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
