"""No more than so many requests under way: each takes a connection, and each of those a handshake.

Streams pass through: they are as many as their callers want.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager

from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, Transport


class RequestLimit:
    """A Transport whose further requests wait for their turn, first come, first served."""

    def __init__(self, inner: Transport, most: int) -> None:
        self._inner, self._slots = inner, asyncio.Semaphore(most)

    async def request(self, call: ApiRequest) -> ApiResponse:
        async with self._slots:
            return await self._inner.request(call)

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        return self._inner.stream(call)

    async def close(self) -> None:
        await self._inner.close()
