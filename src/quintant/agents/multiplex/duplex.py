"""A stream as something to read from and write to, with backpressure both ways."""

from __future__ import annotations

import asyncio
from collections import deque

from quintant.agents.multiplex.stream import ByteStream
from quintant.wire.portal import Fault

LARGE_BYTES = 16 * 1024
"""From here on it costs more to copy pieces together than to pass each on."""


class StreamReset(Exception):
    """The stream was reset (code of the RST), or its connection is lost (0)."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class DuplexStream:
    """The sink of a stream, for one reader and one writer."""

    def __init__(self, stream: ByteStream) -> None:
        self.stream = stream
        stream.sink = self
        self._parts: deque[bytes | memoryview] = deque()
        self._over = False
        self._broken: StreamReset | None = None
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None

    @property
    def quiet(self) -> bool:
        """Whether nothing came that was not read: such a stream may carry another request."""
        return not (self._parts or self._over or self._broken)

    async def read(self) -> bytes | memoryview:
        """What came since, at least one byte; nothing at the end. StreamReset if it was reset.

        What is large is given as it came, piece by piece, and not copied.
        """
        while not self._parts:
            if self._broken is not None:
                raise self._broken
            if self._over:
                return b""
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        raw: bytes | memoryview = self._parts.popleft()
        if len(raw) < LARGE_BYTES:
            raw = b"".join((raw, *self._parts))
            self._parts.clear()
        self.stream.consumed(len(raw))
        return raw

    async def write(self, raw: bytes) -> None:
        """Send, and wait until there is room for more. StreamReset if it was reset."""
        if self._broken is not None:
            raise self._broken
        self.stream.send(raw)
        while self.stream.full:
            self._writer = asyncio.get_running_loop().create_future()
            await self._writer
            if self._broken is not None:
                raise self._broken

    def finish(self) -> None:
        """Nothing more will be written."""
        self.stream.finish()

    def close(self, why: str = "") -> None:
        """Give up the stream, if it is not over on both sides; a reader of it learns so."""
        self.stream.reset(Fault.CANCEL, why)
        self.failed(Fault.CANCEL, why)

    # What the stream calls.

    def accepted(self) -> None: ...

    def received(self, payload: bytes | memoryview) -> None:
        self._parts.append(payload)
        _wake(self._reader)

    def ended(self) -> None:
        self._over = True
        _wake(self._reader)

    def failed(self, code: int, text: str) -> None:
        self._broken = StreamReset(code, text)
        _wake(self._reader)
        _wake(self._writer)

    def writable(self) -> None:
        _wake(self._writer)


def _wake(waiting: asyncio.Future[None] | None) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)
