"""A way to the API server that can be cut: what a network partition is to a component.

While it is cut, requests fail as they do where no server can be reached, and streams that are open
break. What a server did meanwhile is learned once the way is open again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec.structs import replace

from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, Transport
from quintant.core.errors import ConnectError


class PartitionableTransport:
    """Wraps a transport; `disconnect` cuts it, `connect` opens it again."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self._reads: set[asyncio.Timeout] = set()
        """The reads of streams that wait for something to come."""
        self.connected: bool = True

    def connect(self) -> None:
        """Let requests through."""
        self.connected = True

    def disconnect(self) -> None:
        """Let nothing through, and break streams that are open."""
        self.connected = False
        for read in self._reads:
            read.reschedule(asyncio.get_running_loop().time())

    async def request(self, call: ApiRequest) -> ApiResponse:
        self._check()
        answer = await self._inner.request(call)
        self._check()
        return answer

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        self._check()
        async with self._inner.stream(call) as found:
            yield replace(found, chunks=self._chunks(found.chunks))

    async def close(self) -> None:
        await self._inner.close()

    async def _chunks(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        while True:
            self._check()
            try:
                yield await self._next(chunks)
            except StopAsyncIteration:
                return

    async def _next(self, chunks: AsyncIterator[bytes]) -> bytes:
        read = asyncio.timeout(None)
        try:
            async with read:
                self._reads.add(read)
                try:
                    return await anext(chunks)
                finally:
                    self._reads.discard(read)
        except TimeoutError:
            if read.expired():
                raise _cut() from None
            raise

    def _check(self) -> None:
        if not self.connected:
            raise _cut()


def _cut() -> ConnectError:
    return ConnectError("cannot reach the API server: the node is cut off")
