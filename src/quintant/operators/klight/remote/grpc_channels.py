"""Connections to lightpeers: those that worked are kept for the next call.

Those that failed are thrown away, for gRPC would not try them again for seconds.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import grpc.aio

# Connections kept; the one longest unused is closed beyond it. Each costs about 12 KB, a new one
# a millisecond.
KEPT = 1024
_OPTIONS = (
    ("grpc.enable_http_proxy", 0),
    ("grpc.keepalive_time_ms", 2**31 - 1),
    ("grpc.use_local_subchannel_pool", 1),
)
_REFUSALS = (
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.PERMISSION_DENIED,
)
"""The peer itself refused."""


class GrpcChannels:
    """The connections of one process, by address."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, grpc.aio.Channel] = OrderedDict()

    @asynccontextmanager
    async def use(self, address: str) -> AsyncIterator[grpc.aio.Channel]:
        """A connection to a peer: kept if all went well, or if the peer itself refused."""
        channel = self._kept.pop(address, None) or grpc.aio.insecure_channel(address, _OPTIONS)
        good = False
        try:
            yield channel
            good = True
        except grpc.aio.AioRpcError as error:
            good = error.code() in _REFUSALS
            raise
        finally:
            await self._keep(address, channel) if good else await channel.close()

    async def close(self) -> None:
        """Close those that were kept."""
        while self._kept:
            _, channel = self._kept.popitem()
            await channel.close()

    async def _keep(self, address: str, channel: grpc.aio.Channel) -> None:
        spare = self._kept.pop(address, None)
        self._kept[address] = channel
        if spare is None and len(self._kept) > KEPT:
            _, spare = self._kept.popitem(last=False)
        if spare is not None:
            await spare.close()
