"""A server in a few lines, for tests of what wraps a transport."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.core.clock import monotonic
from quintant.core.errors import TransportError


class Server:
    """A transport whose answers a function decides, and whose streams a test speaks into."""

    def __init__(
        self, answer: Callable[[ApiRequest], ApiResponse | TransportError] | None = None
    ) -> None:
        self.answer = answer or (lambda call: ApiResponse(200))
        self.received: list[tuple[float, ApiRequest]] = []
        self.streams: list[asyncio.Queue[bytes | TransportError | None]] = []
        self.closed = False

    async def request(self, call: ApiRequest) -> ApiResponse:
        self.received.append((monotonic(), call))
        outcome = self.answer(call)
        if isinstance(outcome, TransportError):
            raise outcome
        return outcome

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        self.received.append((monotonic(), call))
        words: asyncio.Queue[bytes | TransportError | None] = asyncio.Queue()
        self.streams.append(words)
        try:
            yield ApiStream(200, self._chunks(words), {"x": "y"})
        finally:
            self.streams.remove(words)

    async def close(self) -> None:
        self.closed = True

    def say(self, word: bytes | TransportError | None) -> None:
        """Send to every open stream; None ends them, an error breaks them."""
        for words in self.streams:
            words.put_nowait(word)

    async def _chunks(
        self, words: asyncio.Queue[bytes | TransportError | None]
    ) -> AsyncIterator[bytes]:
        while (word := await words.get()) is not None:
            if isinstance(word, TransportError):
                raise word
            yield word
