"""The way of one simulated process to the server: it can be cut off, lose its watches, and end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, Transport
from quintant.core.errors import ConnectError, DeadlineExceeded
from quintant.testing.explore.remote import RemoteModel, outlive

T = TypeVar("T")
SILENT_SECONDS = 30.0
"""How long a process waits for an answer that has no limit of its own, as over the network."""


class ProcessTransport:
    """What a manager is bound to for one life; it is the caller of its remotes, too."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self._connected = True
        self._breaks = 0
        """How often the connections broke."""
        self._waiting: dict[asyncio.Timeout, None] = {}
        """The watches that wait for more, in the order in which they began to."""
        self._calls: set[asyncio.Task[Any]] = set()
        """Calls of remotes, which go on when the process is no more."""

    def cut_off(self) -> None:
        """Nothing reaches the server, and nothing comes back."""
        self._connected = False
        self.break_watches()

    def reconnect(self) -> None:
        """The server is reached again."""
        self._connected = True

    def break_watches(self) -> None:
        """End every open watch as a connection does that breaks."""
        self._breaks += 1
        now = asyncio.get_running_loop().time()
        for limit in self._waiting:
            if not limit.expired():
                limit.reschedule(now)

    async def request(self, call: ApiRequest) -> ApiResponse:
        """Send a request; DeadlineExceeded while it is cut off."""
        if not self._connected:
            await asyncio.sleep(call.timeout or SILENT_SECONDS)
            raise DeadlineExceeded(f"{call}: no answer in time (simulated)")
        return await self._inner.request(call)

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        """Open a watch; ConnectError while it is cut off."""
        if not self._connected:
            raise ConnectError(f"{call}: the server cannot be reached (simulated)")
        async with self._inner.stream(call) as stream:
            chunks = self._until_broken(stream.chunks, self._breaks)
            yield ApiStream(stream.status, chunks, stream.headers)

    async def close(self) -> None:
        """There is nothing to close."""

    async def call(
        self, model: RemoteModel, text: str, work: Callable[[], Coroutine[Any, Any, T]]
    ) -> T:
        """Call a remote: what it does goes on if its caller ends."""
        return await outlive(work(), self._calls)

    async def _until_broken(
        self, chunks: AsyncIterator[bytes], opened: int
    ) -> AsyncIterator[bytes]:
        """What comes until connections break again; `opened` is how often they had by then."""
        while True:
            limit = asyncio.timeout(None)
            try:
                async with limit:
                    self._waiting[limit] = None
                    chunk = await anext(chunks, None)
            except TimeoutError:
                if not limit.expired():
                    raise
            finally:
                self._waiting.pop(limit, None)
            if self._breaks != opened:
                raise ConnectError("the connection broke (simulated)")
            if chunk is None:
                return
            yield chunk
