"""The body of a request on its way to the Service, kept while it is small enough to send again."""

from __future__ import annotations

import asyncio

from quintant.agents.multiplex.duplex import DuplexStream, StreamReset
from quintant.agents.relay.visitor import Visitor
from quintant.http.body import LAST_CHUNK, BodyParser, encode_chunk
from quintant.http.connection import Disconnected
from quintant.http.framing import Framing, FramingKind
from quintant.http.head import ProtocolError

KEPT_BYTES = 64 * 1024
"""What is kept of a body for another attempt."""


class Upload:
    """One body. `run` may be called again with another stream while `repeatable`."""

    def __init__(self, visitor: Visitor, framing: Framing, most: int) -> None:
        self._visitor, self._most = visitor, most
        self._body, self._chunked = BodyParser(framing), framing.kind is FramingKind.CHUNKED
        self._kept: list[bytes] = []
        self._size = 0
        self.error: Disconnected | ProtocolError | None = None
        self.progress = 0
        """Moves whenever bytes do."""

    @property
    def done(self) -> bool:
        """Whether the visitor sent all of it."""
        return self._body.done

    @property
    def begun(self) -> bool:
        """Whether any of it was sent."""
        return self._size > 0

    @property
    def repeatable(self) -> bool:
        """Whether all that was sent is still here."""
        return self._size <= KEPT_BYTES

    async def run(self, duplex: DuplexStream) -> None:
        """Send what is kept, then what comes. A visitor who errs breaks the stream."""
        try:
            for content in self._kept:
                await self._send(duplex, content)
            while not self._body.done:
                await self._more(duplex)
            if self._chunked:
                await duplex.write(LAST_CHUNK)
        except (Disconnected, ProtocolError) as error:
            self.error = error
            duplex.close("the visitor gave up")
        except StreamReset:
            return  # Whoever reads the answer is told as well.

    async def _more(self, duplex: DuplexStream) -> None:
        raw = await self._visitor.read()
        if not raw:
            raise Disconnected
        content = self._body.feed(raw)
        if self._body.done:
            self._visitor.unread(self._body.rest)
            self._body.rest = b""
        self._keep(content)
        await self._send(duplex, content)

    def _keep(self, content: bytes) -> None:
        self._size += len(content)
        if self._most and self._size > self._most:
            raise ProtocolError(413, "the body is larger than this relay takes")
        if self._size <= KEPT_BYTES:
            self._kept.append(content)
        else:
            self._kept.clear()

    async def _send(self, duplex: DuplexStream, content: bytes) -> None:
        if content:
            self.progress += 1
            await duplex.write(encode_chunk(content) if self._chunked else content)


async def stopped(task: asyncio.Task[None]) -> None:
    """End a task that runs beside its owner."""
    task.cancel()
    await asyncio.wait({task})
