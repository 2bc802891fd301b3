"""One connection: a request at a time, its answer whole or piece by piece.

Below the `Line` that opens and keeps connections. Bytes are understood in `wire`; here they are
sent, waited for, and held back when nobody reads. A connection whose exchange did not end well is
closed: it is not known how much of the answer is still on its way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

from quintant.client.http.http1 import Answer, Head, NotHttp

# A stream that is not read holds so much before its peer is made to wait.
BUFFER_BYTES = 256 * 1024


class ConnectionBroken(Exception):
    """The connection ended before the answer did; `begun` says whether any of that had come."""

    def __init__(self, begun: bool) -> None:
        super().__init__()
        self.begun = begun


class ResponseTooLarge(Exception):
    """The answer is larger than the `most` that its asker takes."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most


class ClientConnection(asyncio.Protocol):
    """A connection to a server, used by one request after the other."""

    def __init__(self, lost: Callable[[ClientConnection], None]) -> None:
        self.idle_since = 0.0
        """Loop time since which it has had nothing to do."""
        self._lost = lost
        self._transport: asyncio.Transport | None = None
        self._error: Exception | None = None
        self._answer: Answer | None = None
        self._most: int | None = None
        self._pieces: list[bytes] = []
        self._size = 0
        self._paused = False
        self._waiter: asyncio.Future[None] | None = None

    @property
    def usable(self) -> bool:
        """Whether another request can go out."""
        return self._error is None and self._answer is None and self._transport is not None

    @property
    def transport(self) -> asyncio.Transport:
        """What carries the bytes; ConnectionBroken if nothing does any more."""
        if self._transport is None or self._error is not None:
            raise ConnectionBroken(False)
        return self._transport

    async def request(
        self, method: str, data: bytes, *, most: int, seconds: float
    ) -> tuple[Head, bytes]:
        """Send a request and wait for its whole answer, of `most` bytes, for so many seconds."""
        timer = asyncio.get_running_loop().call_later(seconds, self._fail, TimeoutError())
        try:
            answer = self._send(method, data, most)
            await self._news()
            if self._error is not None:
                raise self._error
        except BaseException:
            self.close()
            raise
        finally:
            timer.cancel()
        body = self._take()
        return self._settle(answer), body

    async def open(self, method: str, data: bytes) -> Head:
        """Send a request and wait for the head of its answer; `read` gives the rest."""
        try:
            answer = self._send(method, data, None)
            while answer.head is None:
                await self._news()
        except BaseException:
            self.close()
            raise
        return answer.head

    async def read(self) -> bytes:
        """The next piece of the opened answer's body, cut anywhere; empty at its end."""
        answer = self._answer
        while not self._pieces and answer is not None:
            if answer.whole:
                self._settle(answer)
                break
            await self._news()
        return self._take()

    def close(self) -> None:
        """End the connection at once; whoever waits for an answer is told that it broke."""
        self._fail(ConnectionBroken(self._begun))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection stands; called again when TLS was put above what there was."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Take bytes from the peer."""
        answer = self._answer
        if answer is None:
            self.close()  # nobody asked: it would be taken for the answer to what comes next
            return
        try:
            pieces = answer.feed(data)
        except NotHttp as error:
            self._fail(error)
            return
        if pieces:
            self._pieces += pieces
            self._size += sum(map(len, pieces))
        if self._most is None:
            self._hold_back()
            self._wake()
        elif self._size > self._most or answer.length > self._most:
            self._fail(ResponseTooLarge(self._most))
        elif answer.whole:
            self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is gone; some answers end with it."""
        if self._answer is None or not self._answer.ended():
            broken = ConnectionBroken(self._begun)
            broken.__cause__ = error
            self._error = self._error or broken
        self._transport = None
        self._lost(self)
        self._wake()

    def _send(self, method: str, data: bytes, most: int | None) -> Answer:
        """Begin an exchange; `most` bytes are waited for whole, None is read as it comes."""
        transport, answer = self.transport, Answer(method)
        self._answer, self._most = answer, most
        transport.write(data)
        return answer

    def _settle(self, answer: Answer) -> Head:
        """The answer is complete: make ready for another one, if there can be one."""
        assert answer.head is not None, "an answer is not whole before its head"
        self._answer = None
        if not answer.persistent:
            self.close()
        return answer.head

    def _take(self) -> bytes:
        pieces, self._pieces, self._size = self._pieces, [], 0
        if self._paused and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _hold_back(self) -> None:
        """Make the peer of a slow reader wait."""
        if self._size > BUFFER_BYTES and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()

    def _fail(self, error: Exception) -> None:
        self._error = self._error or error
        if self._transport is not None:
            self._transport.abort()
        self._wake()

    @property
    def _begun(self) -> bool:
        return self._answer is not None and self._answer.begun

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
