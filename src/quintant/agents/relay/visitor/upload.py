"""The body of a request on its way to the Service, kept while it is small enough to send again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from quintant.agents.multiplex.duplex import DuplexStream, StreamReset
from quintant.agents.relay.visitor.fields import pass_trailers
from quintant.agents.relay.visitor.visitor import Visitor
from quintant.http.body import BodyParser, encode_chunk, encode_end
from quintant.http.connection import Disconnected
from quintant.http.framing import Framing, FramingKind
from quintant.http.head import ProtocolError

KEPT_BYTES = 64 * 1024
"""What is kept of a body for another attempt."""
FIRST_BYTES = 16 * 1024
"""What has to be here of a body before a tunnel is asked to take it, or all of it if it is less: a
request that is only begun holds nothing but the visitor's own connection."""
UPLOAD_RATE = 500.0
"""Bytes per second: less than any network that a visitor has to use today."""
GRACE_SECONDS = 20.0
"""That a body may take beyond what its size allows at that rate: networks pause."""


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """How large a request's body may be, and how slow."""

    most: int = 0
    """Bytes; 0 is any."""
    rate: float = UPLOAD_RATE
    """Bytes per second, at least, on average; 0 is any."""
    grace: float = GRACE_SECONDS


class Upload:
    """One body. `run` may be called again with another stream while `repeatable`.

    Until the Service answers, it has to come at the least rate on average; the time in which the
    Service does not take it is not counted. What goes on after that is a conversation.
    """

    def __init__(self, visitor: Visitor, framing: Framing, limits: UploadLimits) -> None:
        self._visitor, self._limits = visitor, limits
        self._waited = 0.0
        self.answered = False
        """Whether the Service began to answer."""
        self._body, self._chunked = BodyParser(framing), framing.kind is FramingKind.CHUNKED
        self._first = min(framing.size, FIRST_BYTES) if not self._chunked else 0
        self._kept: list[bytes] = []
        self._early: list[bytes] = []
        self._size = 0
        self.sent: bool = False
        self.error: Disconnected | ProtocolError | None = None
        self.progress: int = 0
        """Moves whenever bytes do."""

    @property
    def done(self) -> bool:
        """Whether the visitor sent all of it."""
        return self._body.done

    @property
    def begun(self) -> bool:
        """Whether any of it was sent."""
        return self.sent

    @property
    def repeatable(self) -> bool:
        """Whether all that was sent is still here."""
        return self._size <= KEPT_BYTES

    async def begin(self) -> None:
        """Wait until enough of it is here to be worth a stream. Disconnected, or ProtocolError."""
        while self._size < self._first:
            content = await self._content()
            self._keep(content)
            self._early.append(content)

    async def run(self, duplex: DuplexStream) -> None:
        """Send what is kept, then what comes. A visitor who errs breaks the stream."""
        try:
            begun, self._early = self._early or [*self._kept], []
            for content in begun:
                self.sent = True
                await self._send(duplex, content)
            while not self._body.done:
                await self._more(duplex)
            if self._chunked:
                await duplex.write(encode_end(pass_trailers(self._body.trailers)))
        except (Disconnected, ProtocolError) as error:
            self.error = error
            duplex.close("the visitor gave up")
        except StreamReset:
            return  # Whoever reads the answer is told as well.

    async def _more(self, duplex: DuplexStream) -> None:
        content = await self._content()
        self._keep(content)
        self.sent = True
        await self._send(duplex, content)

    async def _content(self) -> bytes:
        """What comes next of the body."""
        raw = await self._read()
        if not raw:
            raise Disconnected
        content = self._body.feed(raw)
        if self._body.done:
            self._visitor.unread(self._body.rest)
            self._body.rest = b""
        return content

    async def _read(self) -> bytes:
        """What comes next. ProtocolError if the visitor is slower than the least rate."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while True:
            spent = self._waited + loop.time() - began
            try:
                async with asyncio.timeout(self._left(spent)):
                    raw = await self._visitor.read()
            except TimeoutError:
                if not self.answered:
                    raise ProtocolError(408, "the body comes too slowly") from None
            else:
                self._waited += loop.time() - began
                return raw

    def _left(self, spent: float) -> float | None:
        """Seconds until the visitor is too slow; None if it cannot be."""
        limits = self._limits
        if self.answered or not limits.rate:
            return None
        return limits.grace + self._size / limits.rate - spent

    def _keep(self, content: bytes) -> None:
        self._size += len(content)
        if self._limits.most and self._size > self._limits.most:
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
