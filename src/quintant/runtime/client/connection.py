"""One connection: a request at a time, its answer whole or piece by piece.

Below the `Line` that opens and keeps connections. Bytes are understood in `wire`; here they are
sent, waited for, and held back when nobody reads. A connection whose exchange did not end well is
closed: it is not known how much of the answer is still on its way.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from enum import Enum, auto
from typing import cast

from quintant.runtime.client.wire import Answer, Head, NotHttp
from quintant.runtime.members import direct

# A stream that is not read holds so much before its peer is made to wait.
BUFFER_BYTES = 256 * 1024


class Broken(Exception):
    """The connection ended before the answer did; `begun` says whether any of that had come."""

    def __init__(self, begun: bool) -> None:
        super().__init__()
        self.begun = begun


class TooLarge(Exception):
    """The answer is larger than the `most` that its asker takes."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most


@direct
class _Until(Enum):
    """What somebody waits for."""

    HEAD = auto()
    PIECE = auto()
    END = auto()


class Connection(asyncio.Protocol):
    """A connection to a server, used by one request after the other."""

    def __init__(self, lost: Callable[[Connection], None]) -> None:
        self.rested_at = 0.0
        """Loop time since which it has had nothing to do."""
        self._lost = lost
        self._transport: asyncio.Transport | None = None
        self._error: Exception | None = None
        self._answer: Answer | None = None
        self._most = 0
        self._pieces: list[bytes] = []
        self._size = 0
        self._paused = False
        self._until = _Until.END
        self._waiter: asyncio.Future[None] | None = None

    @property
    def usable(self) -> bool:
        """Whether another request can go out."""
        return self._error is None and self._answer is None and self._transport is not None

    @property
    def transport(self) -> asyncio.Transport:
        """What carries the bytes; Broken if nothing does any more."""
        if self._transport is None or self._error is not None:
            raise Broken(False)
        return self._transport

    async def ask(
        self, method: str, data: bytes, *, most: int, seconds: float
    ) -> tuple[Head, bytes]:
        """Send a request and wait for its whole answer, of `most` bytes, for so many seconds."""
        timer = asyncio.get_running_loop().call_later(seconds, self._fail, TimeoutError())
        try:
            answer = await self._send(method, data, most, _Until.END)
        finally:
            timer.cancel()
        body = self._take()
        self._settle(answer)
        return cast(Head, answer.head), body

    async def open(self, method: str, data: bytes) -> Head:
        """Send a request and wait for the head of its answer; `pieces` are the rest."""
        answer = await self._send(method, data, 0, _Until.HEAD)
        return cast(Head, answer.head)

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body of the answer as it comes, cut anywhere."""
        answer = cast(Answer, self._answer)
        while True:
            await self._wait(_Until.PIECE)
            piece = self._take()
            if not piece:
                self._settle(answer)
                return
            yield piece

    def close(self) -> None:
        """End the connection at once; whoever waits for an answer is told that it broke."""
        self._fail(Broken(self._begun))

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
        self._bound(answer)
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is gone; some answers end with it."""
        if self._answer is None or not self._answer.ended():
            broken = Broken(self._begun)
            broken.__cause__ = error
            self._error = self._error or broken
        self._transport = None
        self._lost(self)
        self._wake()

    async def _send(self, method: str, data: bytes, most: int, until: _Until) -> Answer:
        try:
            transport, answer = self.transport, Answer(method)
            self._answer, self._most = answer, most
            transport.write(data)
            await self._wait(until)
        except BaseException:
            self.close()
            raise
        return answer

    def _settle(self, answer: Answer) -> None:
        """The answer is complete: make ready for another one, if there can be one."""
        self._answer = None
        if not answer.persistent:
            self.close()

    def _take(self) -> bytes:
        pieces, self._pieces, self._size = self._pieces, [], 0
        if self._paused and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _bound(self, answer: Answer) -> None:
        """Refuse what is too large, and make the peer of a slow reader wait."""
        if self._most:
            if self._size > self._most or answer.length > self._most:
                self._fail(TooLarge(self._most))
        elif self._size > BUFFER_BYTES and not self._paused and self._transport is not None:
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

    async def _wait(self, until: _Until) -> None:
        self._until = until
        if self._error is None and not self._come():
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        # What came before the error is still good for somebody who takes it piece by piece.
        if self._error is not None and (until is _Until.END or not self._come()):
            raise self._error

    def _wake(self) -> None:
        waiter = self._waiter
        if waiter is not None and not waiter.done() and (self._error is not None or self._come()):
            waiter.set_result(None)

    def _come(self) -> bool:
        answer = cast(Answer, self._answer)
        if self._until is _Until.END:
            return answer.whole
        if self._until is _Until.HEAD:
            return answer.head is not None
        return bool(self._pieces) or answer.whole
