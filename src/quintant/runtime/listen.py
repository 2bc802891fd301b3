"""Opening a port, for probes, metrics and whatever else answers HTTP.

A port that cannot be had is a mistake in the set-up and is reported as one.
"""

from __future__ import annotations

import errno
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from quintant.runtime.address import Address
from quintant.runtime.errors import ConfigError

# Answers under way when a server stops; probes and scrapes take milliseconds.
SHUTDOWN_SECONDS = 1.0
# What remains of a refused body is read and dropped for so long; a caller that still sends may then
# miss the refusal, but cannot hold the connection.
LINGER_SECONDS = 1.0

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


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
