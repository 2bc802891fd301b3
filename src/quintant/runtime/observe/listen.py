"""Opening a port, for probes, metrics and whatever else answers HTTP.

A port that cannot be had is a mistake in the set-up and is reported as one.
"""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from ssl import SSLContext

from quintant.core.address import BindAddress
from quintant.core.errors import ConfigError
from quintant.http import server
from quintant.http.request import RequestLimits
from quintant.http.server import GOODBYE_SECONDS, Handler


@asynccontextmanager
async def listen(
    handler: Handler,
    address: BindAddress,
    context: SSLContext | None = None,
    *,
    limits: RequestLimits = RequestLimits(),
    goodbye: float = GOODBYE_SECONDS,
) -> AsyncIterator[BindAddress]:
    """Answer requests while the context lasts; yields the address with the port that was chosen.

    ConfigError says why an address cannot be had.
    """
    opened = server.serving(
        handler, address.host, address.port, context, limits=limits, goodbye=goodbye
    )
    async with AsyncExitStack() as stack:
        try:
            _, port = await stack.enter_async_context(opened)
        except OSError as error:
            raise _refused(address, error) from error
        yield BindAddress(address.host, port)


def _refused(address: BindAddress, error: OSError) -> ConfigError:
    taken = error.errno == errno.EADDRINUSE
    return ConfigError(
        f"cannot listen on {address}",
        because="another process does" if taken else os.strerror(error.errno or 0),
        hint="choose another port, or port 0 for any free one" if taken else "",
    )
