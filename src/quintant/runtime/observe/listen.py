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
from quintant.core.errors import AddressInUse, ConfigError
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
    shows_only: bool = False,
) -> AsyncIterator[BindAddress]:
    """Answer requests while the context lasts; yields the address with the port that was chosen.

    ConfigError says why an address cannot be had. Only what changes nothing, whatever it is asked,
    is one that `shows_only`: pages of other sites may link to it.
    """
    opened = server.serving(
        handler,
        address.host,
        address.port,
        context,
        limits=limits,
        goodbye=goodbye,
        shows_only=shows_only,
    )
    async with AsyncExitStack() as stack:
        try:
            _, port = await stack.enter_async_context(opened)
        except OSError as error:
            raise _refused(address, error) from error
        yield BindAddress(address.host, port)


def _refused(address: BindAddress, error: OSError) -> ConfigError:
    what = f"cannot listen on {address}"
    if error.errno != errno.EADDRINUSE:
        return ConfigError(what, because=os.strerror(error.errno or 0))
    return AddressInUse(
        what,
        because="another process does",
        hint="choose another port, or port 0 for any free one",
    )
