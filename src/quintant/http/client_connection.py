"""One connection: a request at a time, its response whole or piece by piece.

Below what opens and keeps connections: the client's pool, the embedded server's calls of
webhooks, programs in pods. Bytes are understood in the modules beside this one; here they are sent,
waited for, and held back without a reader. A connection whose exchange did not end well is closed:
it is not known how much of the response is still on its way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

from quintant.http.head import ProtocolError, ResponseHead
from quintant.http.response_parser import ResponseParser

# A stream that is not read holds so much before its peer is made to wait.
BUFFER_BYTES = 256 * 1024


class ConnectionBroken(Exception):
    """The connection ended before the response did; `begun` says whether any of that had come."""

    def __init__(self, begun: bool) -> None:
        super().__init__()
        self.begun = begun


class ResponseTooLarge(Exception):
    """The response is larger than the `most` that its asker takes."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most


class ClientConnection(asyncio.Protocol):
    """A connection to a server, used by one request after the other."""

    def __init__(self, lost: Callable[[ClientConnection], None]) -> None:
        self.idle_since: float = 0.0
        """Loop time since which it has had nothing to do."""
        self._lost = lost
        self._transport: asyncio.Transport | None = None
        self._carrier: asyncio.Transport | None = None
        """What was there before TLS was put above it: left unread, it costs nothing."""
        self._error: Exception | None = None
        self._response: ResponseParser | None = None
        self._most: int | None = None
        self._pieces: list[bytes] = []
        self._size = 0
        self._paused = False
        self._waiter: asyncio.Future[None] | None = None

    @property
    def usable(self) -> bool:
        """Whether another request can go out."""
        return self._error is None and self._response is None and self._transport is not None

    @property
    def transport(self) -> asyncio.Transport:
        """What carries the bytes; ConnectionBroken if nothing does any more."""
        if self._transport is None or self._error is not None:
            raise ConnectionBroken(False)
        return self._transport

    async def request(
        self, method: str, data: bytes, *, most: int, seconds: float
    ) -> tuple[ResponseHead, bytes]:
        """Send a request and wait for its whole response, of `most` bytes, for so many seconds."""
        timer = asyncio.get_running_loop().call_later(seconds, self._fail, TimeoutError())
        try:
            response = self._send(method, data, most)
            await self._news()
            if self._error is not None:
                raise self._error
        except BaseException:
            self.close()
            raise
        finally:
            timer.cancel()
        body = self._take()
        return self._finish(response), body

    async def open(self, method: str, data: bytes) -> ResponseHead:
        """Send a request and wait for the head of its response; `read` gives the rest."""
        try:
            response = self._send(method, data, None)
            while response.head is None:
                await self._news()
        except BaseException:
            self.close()
            raise
        return response.head

    async def read(self) -> bytes:
        """The next piece of the opened response's body, cut anywhere; empty at its end."""
        response = self._response
        while not self._pieces and response is not None:
            if response.complete:
                self._finish(response)
                break
            await self._news()
        return self._take()

    async def gather(self, seconds: float) -> None:
        """Leave what comes of the opened response to the system for so long."""
        self._hold_back()
        await asyncio.sleep(seconds)
        self._let_come()

    def close(self) -> None:
        """End the connection at once; a caller that waits for a response gets that it broke."""
        self._fail(ConnectionBroken(self._begun))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection stands; called again when TLS was put above what there was."""
        self._carrier = self._transport or cast(asyncio.Transport, transport)
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Take bytes from the peer."""
        response = self._response
        if response is None:
            self.close()  # unasked: it would be taken for the response to what comes next
            return
        try:
            piece = response.feed(data)
        except ProtocolError as error:
            self._fail(error)
            return
        if piece:
            self._pieces.append(piece)
            self._size += len(piece)
        if self._most is None:
            if self._size > BUFFER_BYTES:
                self._hold_back()
            self._wake()
        elif self._size > self._most or response.length > self._most:
            self._fail(ResponseTooLarge(self._most))
        elif response.complete:
            self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is gone; some responses end with it."""
        if self._response is None or not self._response.end():
            broken = ConnectionBroken(self._begun)
            broken.__cause__ = error
            self._error = self._error or broken
        self._transport = None
        self._lost(self)
        self._wake()

    def _send(self, method: str, data: bytes, most: int | None) -> ResponseParser:
        """Begin an exchange; `most` bytes are waited for whole, None is read as it comes."""
        transport, response = self.transport, ResponseParser(method)
        self._response, self._most = response, most
        transport.write(data)
        return response

    def _finish(self, response: ResponseParser) -> ResponseHead:
        """The response is complete: make ready for another one, if there can be one."""
        assert response.head is not None, "a response is not whole before its head"
        self._response = None
        if not response.keep_alive:
            self.close()
        return response.head

    def _take(self) -> bytes:
        pieces, self._pieces, self._size = self._pieces, [], 0
        if self._paused:
            self._let_come()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _hold_back(self) -> None:
        """Make the peer of a slow reader wait."""
        if not self._paused and self._transport is not None and self._carrier is not None:
            self._paused = True
            try:  # noqa: SIM105
                self._carrier.pause_reading()
            except RuntimeError:
                pass

    def _let_come(self) -> None:
        if self._paused and self._transport is not None and self._carrier is not None:
            self._paused = False
            try:  # noqa: SIM105  # of a busy stream every piece passes here
                self._carrier.resume_reading()
            except RuntimeError:  # it is being closed
                pass

    def _fail(self, error: Exception) -> None:
        self._error = self._error or error
        if self._transport is not None:
            self._transport.abort()
        self._wake()

    @property
    def _begun(self) -> bool:
        return self._response is not None and self._response.begun

    async def _news(self) -> None:
        """Wait until something came that was waited for, or will not come any more."""
        if self._error is not None:
            raise self._error
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
