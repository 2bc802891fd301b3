"""CreateListener: the ports of the ingress controller: 80 and 443, or the nearest that can be had.

Ports are mapped as those of services are (quintant.cluster.kubeproxy.ports), and nothing listens
before there is an Ingress to serve.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable, Mapping

from quintant.agents.relay.visitor.visitor import Visitor
from quintant.cluster.kubeproxy.ingress.frontend import LIMITS, IngressFrontend
from quintant.cluster.kubeproxy.ports import address_of, bind_virtual_server, port_unavailable
from quintant.cluster.kubeproxy.routes import TCP, RealServer, VirtualServer
from quintant.http.connections import Connections

HTTP, HTTPS = 80, 443
BACKLOG = 1024
"""Connections that may wait to be accepted."""
CLIENTS = 1_000
"""Connections at a time; the next is closed at once."""
GOODBYE_SECONDS = 1.0
"""For answers under way when the controller ends."""
_log = logging.getLogger(__name__)


class Listeners:
    """Two ports at one address; they listen once they were opened."""

    def __init__(self, address: str, frontend: IngressFrontend) -> None:
        self.frontend = frontend
        self._address = address
        self._connections = Connections(_failed)
        self._servers: list[asyncio.Server] = []
        self.mapped: dict[VirtualServer, RealServer] = {}
        """Where they listen."""
        self._clients = 0

    async def open(self, before: Mapping[VirtualServer, RealServer], tls: ssl.SSLContext) -> None:
        """Listen, where an earlier run did if that can be had. OSError if nowhere."""
        loop = asyncio.get_running_loop()
        for port, scheme in ((HTTP, "http"), (HTTPS, "https")):
            wanted = VirtualServer(TCP, self._address, port)
            bound = listening_socket(wanted, before.get(wanted))
            self.mapped[wanted] = address_of(bound)
            serve = self._factory(scheme)
            if scheme == "http":
                self._servers.append(await loop.create_server(serve, sock=bound, backlog=BACKLOG))
                continue
            self._servers.append(
                await loop.create_server(
                    serve,
                    sock=bound,
                    backlog=BACKLOG,
                    ssl=tls,
                    ssl_handshake_timeout=LIMITS.head_seconds,
                    ssl_shutdown_timeout=GOODBYE_SECONDS,
                )
            )

    async def close(self) -> None:
        """Accept nobody any more, let answers end for a moment, and end every connection."""
        for server in self._servers:
            server.close()
        self._connections.close_idle()
        await self._connections.wait_closed(GOODBYE_SECONDS)
        await self._connections.close()

    def _factory(self, scheme: str) -> Callable[[], Visitor]:
        return lambda: Visitor(lambda client: self._arrive(client, scheme))

    def _arrive(self, client: Visitor, scheme: str) -> asyncio.Task[None]:
        return self._connections.serve(client, self._serve(client, scheme))

    async def _serve(self, client: Visitor, scheme: str) -> None:
        if self._clients >= CLIENTS:
            client.abort()
            return
        self._clients += 1
        try:
            await self.frontend.serve(client, scheme)
        finally:
            self._clients -= 1


def listening_socket(wanted: VirtualServer, before: RealServer | None) -> socket.socket:
    """A socket that listens for a virtual server, or as near as can be."""
    bound = bind_virtual_server(wanted, before)
    try:
        bound.listen(BACKLOG)
    except OSError as error:
        # Two may bind one port, and the first to listen has it.
        taken = address_of(bound)
        bound.close()
        if not port_unavailable(error):
            raise
        bound = bind_virtual_server(wanted, taken=taken)
        bound.listen(BACKLOG)
    return bound


def _failed(error: BaseException) -> None:
    _log.error("a connection failed", exc_info=error)
