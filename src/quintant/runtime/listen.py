"""Opening a port, for probes, metrics and whatever else answers HTTP.

An address is `host:port`: an empty host is every interface, port 0 any free one. A port that cannot
be had is a mistake in the set-up and is reported as one.
"""

from __future__ import annotations

import errno
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

from quintant.runtime.errors import ConfigError

# Answers under way when a server stops; probes and scrapes take milliseconds.
SHUTDOWN_SECONDS = 1.0
# What remains of a refused body is read and dropped for so long; a caller that still sends may then
# miss the refusal, but cannot hold the connection.
LINGER_SECONDS = 1.0
HIGHEST_PORT = 65535

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen; an empty host is every interface."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """`:8080`, `127.0.0.1:0`, `[::1]:8080`; ConfigError for anything else."""
        host, colon, port = text.rpartition(":")
        bare = host.removeprefix("[").removesuffix("]")
        if not colon or not port.isdecimal() or int(port) > HIGHEST_PORT:
            raise ConfigError(
                f"{text!r} is not an address to listen on",
                because="it must be host:port, and the host may be empty",
                hint='":8080" for every interface, "127.0.0.1:8080" for this machine only',
            )
        if ":" in bare and bare == host:
            raise ConfigError(f"{text!r} is ambiguous", hint=f'write "[{host}]:{port}" for IPv6')
        return cls(bare, int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@asynccontextmanager
async def serving(
    handler: Handler,
    address: Address,
    context: ssl.SSLContext | None = None,
    *,
    shutdown: float = SHUTDOWN_SECONDS,
) -> AsyncIterator[Address]:
    """Answer requests while the context lasts; yields the address with the port that was chosen."""
    server = web.Server(handler, access_log=None, lingering_time=LINGER_SECONDS)
    runner = web.ServerRunner(server, shutdown_timeout=shutdown)
    await runner.setup()
    try:
        site = web.TCPSite(runner, address.host or None, address.port, ssl_context=context)
        await start(site, address)
        yield Address(address.host, int(runner.addresses[0][1]))
    finally:
        await runner.cleanup()


async def start(site: web.TCPSite, address: Address) -> None:
    """Begin to listen; ConfigError says why an address cannot be had."""
    try:
        await site.start()
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        raise ConfigError(
            f"cannot listen on {address}",
            because="another process does" if taken else os.strerror(error.errno or 0),
            hint="choose another port, or port 0 for any free one" if taken else "",
        ) from error
