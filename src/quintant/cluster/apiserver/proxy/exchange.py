"""httputil.ReverseProxy: one request over a connection to a pod, and its response.

Bytes go as fast as the slower side takes them, in both directions at once: a pod may answer before
it has read everything. The connection is the request's alone and ends with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress

from quintant.http.body import LAST_CHUNK, encode_chunk
from quintant.http.connection import Disconnected
from quintant.http.head import ProtocolError, ResponseHead, head_length, parse_response_head
from quintant.http.response_parser import RESPONSE_FIELDS, RESPONSE_HEAD_BYTES, ResponseParser

PIECE = 64 * 1024
IDLE_SECONDS = 4 * 3600.0
"""Without a byte of the pod, a response ends: what kubelets have by default for streams."""
SWITCHING = 101


class NoProxiedResponse(Exception):
    """A pod answered nothing, or nothing that is HTTP; the text says which, as Go does."""


class Backing:
    """A connection to a pod, with one request on its way."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, method: str
    ) -> None:
        self.writer = writer
        self._reader = reader
        self._response = ResponseParser(method)
        self._sending: asyncio.Task[None] | None = None
        self._first = b""

    def send(self, head: bytes, body: AsyncIterator[bytes] | None, *, chunked: bool) -> None:
        """Send a request; its body goes out as it comes."""
        self.writer.write(head)
        if body is not None:
            self._sending = asyncio.ensure_future(_send_body(self.writer, body, chunked))

    async def head(self) -> ResponseHead:
        """The head of the response; NoProxiedResponse if there is none."""
        while self._response.head is None:
            data = await self.read()
            if not data:
                raise NoProxiedResponse("EOF")
            try:
                self._first += self._response.feed(data)
            except ProtocolError:
                raise NoProxiedResponse(_MALFORMED) from None
        return self._response.head

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes. Disconnected if it breaks off: what came is not all of it."""
        response = self._response
        try:
            if self._first:
                yield self._first
            while not response.complete:
                data = await self.read()
                if not data:
                    if not response.end():
                        raise Disconnected
                elif piece := response.feed(data):
                    yield piece
        except ProtocolError:
            raise Disconnected from None
        finally:
            await self.abandon()

    async def switched(self) -> tuple[ResponseHead, bytes]:
        """The head of the response to an upgrade, and what came behind it."""
        data = b""
        try:
            while not (at := head_length(data, RESPONSE_HEAD_BYTES)):
                if not (more := await self.read()):
                    raise NoProxiedResponse("unexpected EOF" if data else "EOF")
                data += more
            head = parse_response_head(data[:at], RESPONSE_FIELDS)
            if head.status != SWITCHING:
                self._first = self._response.feed(data)
        except ProtocolError:
            raise NoProxiedResponse(_MALFORMED) from None
        return head, data[at:]

    async def read(self) -> bytes:
        """What came, at least one byte; nothing at the end, however it came."""
        with suppress(OSError):
            async with asyncio.timeout(IDLE_SECONDS):
                return await self._reader.read(PIECE)
        return b""

    def close(self) -> None:
        """End it at once."""
        if self._sending is not None:
            self._sending.cancel()
        self.writer.transport.abort()

    async def abandon(self) -> None:
        """End it, and wait until nothing is sent any more."""
        self.close()
        if self._sending is not None:
            await asyncio.gather(self._sending, return_exceptions=True)


async def _send_body(
    writer: asyncio.StreamWriter, body: AsyncIterator[bytes], chunked: bool
) -> None:
    try:
        async for piece in body:
            writer.write(encode_chunk(piece) if chunked else piece)
            await writer.drain()
        if chunked:
            writer.write(LAST_CHUNK)
            await writer.drain()
    except OSError:
        return  # the pod reads no more of it: its response is what counts
    except (Disconnected, ProtocolError):
        # Half a request is none: the pod must not take what came for all of it.
        writer.transport.abort()


_MALFORMED = "net/http: HTTP/1.x transport connection broken: malformed HTTP response"
