"""Opening a connection along a route: name look-up, TCP, the tunnel of a proxy, TLS."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct

from quintant.client.http.route import Hop, ServerRoute
from quintant.http.client_connection import ClientConnection
from quintant.http.special_addresses import resolve_host

# A peer that vanished without a word is noticed by the kernel: probes after 30 s of silence, every
# 15 s, two of them; and whatever we send must be acknowledged within 45 s.
SOCKET_OPTIONS = {
    "TCP_KEEPIDLE": 30,
    "TCP_KEEPINTVL": 15,
    "TCP_KEEPCNT": 2,
    "TCP_USER_TIMEOUT": 45_000,  # milliseconds
}
# What a proxy may say beside its refusal.
REFUSAL_BYTES = 64 * 1024


class ServerUnreachable(Exception):
    """No connection came about; `proxy` says whether it was the proxy that was not reached."""

    def __init__(self, cause: OSError, *, proxy: bool) -> None:
        super().__init__()
        self.cause = cause
        self.proxy = proxy


class ProxyRefused(Exception):
    """The proxy does not let us through."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__()
        self.status = status
        self.reason = reason


class Dialer(Struct, frozen=True):
    """Opens connections along one route, with one TLS set-up (None: without TLS)."""

    route: ServerRoute
    tls: ssl.SSLContext | None
    name: str
    """The name under which the server is known to its certificate."""
    guarded: bool = False
    """Whether special addresses are refused, whatever name leads to one."""

    async def dial(
        self, seconds: float, lost: Callable[[ClientConnection], None], *, layered: bool = False
    ) -> ClientConnection:
        """Connect within so many seconds; `lost` hears of the connection's end.

        With `layered`, TLS is put above a connection that stands, which then can be left unread.
        """
        direct = not (self.route.connect_request or self.route.proxy)
        above = layered and direct and self.tls is not None
        try:
            async with asyncio.timeout(seconds):
                connection = await self._connect(lost, plain=above)
                if self.route.connect_request:
                    await self._tunnel(connection, seconds)
                elif above:
                    await self._put_above(connection)
        except TimeoutError as error:
            raise ServerUnreachable(error, proxy=False) from None
        return connection

    async def _connect(
        self, lost: Callable[[ClientConnection], None], *, plain: bool
    ) -> ClientConnection:
        proxied = self.route.proxy is not None
        try:
            *others, last = await self._addresses(self.route.first_hop)
            for address in others:
                with suppress(OSError):
                    return await self._open(*address, lost, plain=plain)
            return await self._open(*last, lost, plain=plain)
        except OSError as error:
            raise ServerUnreachable(error, proxy=proxied) from None

    async def _open(
        self, host: str, port: int, lost: Callable[[ClientConnection], None], *, plain: bool
    ) -> ClientConnection:
        hop, proxied = self.route.first_hop, self.route.proxy is not None
        encrypted = hop.secure and not plain
        secure = (ssl.create_default_context() if proxied else self.tls) if encrypted else None
        name = (hop.host if proxied else self.name) if secure else None
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            lambda: ClientConnection(lost), host, port, ssl=secure, server_hostname=name
        )
        tune(connection.transport.get_extra_info("socket"))
        return connection

    async def _addresses(self, hop: Hop) -> list[tuple[str, int]]:
        """Where to try: the addresses of the host, looked at first if that is asked for."""
        guarded = self.guarded and self.route.proxy is None
        return await resolve_host(hop.host, hop.port, guarded=guarded)

    async def _tunnel(self, connection: ClientConnection, seconds: float) -> None:
        request = self.route.connect_request
        head, _ = await connection.request("CONNECT", request, most=REFUSAL_BYTES, seconds=seconds)
        try:
            if head.status >= 300:
                raise ProxyRefused(head.status, head.reason.decode("latin-1"))
            await self._secure(connection)
        except BaseException:
            connection.close()
            raise

    async def _put_above(self, connection: ClientConnection) -> None:
        try:
            await self._secure(connection)
        except BaseException:
            connection.close()
            raise

    async def _secure(self, connection: ClientConnection) -> None:
        assert self.tls is not None, "there is a tunnel only where there is TLS"
        loop = asyncio.get_running_loop()
        try:
            above = await loop.start_tls(
                connection.transport, connection, self.tls, server_hostname=self.name
            )
        except OSError as error:
            raise ServerUnreachable(error, proxy=False) from None
        if above is None:
            closed = ConnectionResetError("the connection was closed before TLS stood")
            raise ServerUnreachable(closed, proxy=False)
        connection.connection_made(above)


def tune(made: socket.socket) -> None:
    """Let a socket notice that its peer is gone."""
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in SOCKET_OPTIONS.items():
        if hasattr(socket, name):  # not every system has all of them
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
