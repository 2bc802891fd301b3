"""From a host and a port to addresses, for programs in pods that connect by themselves.

In this order: what the program was given; `localhost` and what is below it (RFC 6761, which the
system's resolver does not always keep); names of the embedded cluster; the system. Asked again for
every connection, because Services move.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Callable, Mapping

from quintant.agents.dns.resolver import ClusterResolver, SocketAddress, is_ip_address

LOOPBACK = "127.0.0.1"


class HostResolver:
    """Where hosts are."""

    def __init__(self, fixed: Mapping[str, str], environ: Mapping[str, str] = os.environ) -> None:
        self._fixed, self._names = fixed, ClusterResolver.find(environ)

    async def find(self, host: str, port: int) -> list[SocketAddress]:
        """Where a port of a host is; OSError if the host is not known."""
        fixed = self._fixed.get(f"{host.lower()}:{port}")
        if fixed is not None:
            address, _, number = fixed.rpartition(":")
            return [SocketAddress(address, int(number))]
        name = host.lower().rstrip(".")
        if name == "localhost" or name.endswith(".localhost"):
            return [SocketAddress(LOOPBACK, port)]
        found = await self._names.resolve(host, port) if self._names else []
        if found and is_ip_address(found[0].address):
            return found
        return await _system(found[0].address if found else host, port)

    async def connect(
        self,
        make: Callable[[], asyncio.BaseProtocol],
        host: str,
        port: int,
        context: ssl.SSLContext | None,
    ) -> None:
        """Connect to a port of a host, at the first of its addresses that answers."""
        loop, addresses = asyncio.get_running_loop(), await self.find(host, port)
        if not addresses:
            raise socket.gaierror(socket.EAI_NONAME, "no such host")
        name = host if context else None
        for last, endpoint in zip(reversed(range(len(addresses))), addresses, strict=True):
            try:
                await loop.create_connection(
                    make, endpoint.address, endpoint.port, ssl=context, server_hostname=name
                )
                return
            except OSError:
                if not last:
                    raise


async def _system(host: str, port: int) -> list[SocketAddress]:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [SocketAddress(str(entry[4][0]), port) for entry in found]
