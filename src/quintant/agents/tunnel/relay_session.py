"""A connection to a relay, from the greeting to the end: what every protocol has, and our own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from quintant.agents.multiplex.connection import MultiplexConnection
from quintant.agents.multiplex.session import MultiplexSession, ProtocolViolation, SessionState
from quintant.agents.multiplex.stream import ByteStream, MultiplexStream
from quintant.wire.portal import (
    VERSION,
    Close,
    Farewell,
    Frame,
    FrameKind,
    Hello,
    Opening,
    Reason,
    Welcome,
    document,
    telling,
)

Connected = Callable[[str], None]
"""Called when visitors can come, with the public URL that the relay tells, if it tells one."""


class StreamHandler(Protocol):
    """Where streams lead to."""

    def opened(self, stream: ByteStream, opening: Opening) -> None:
        """A visitor came."""


class RelaySession(Protocol):
    """One connection to a relay, in the protocol that it speaks."""

    connection: MultiplexConnection
    welcomed: bool
    """Whether the relay let us in."""
    away: asyncio.Future[Farewell]
    """Done when the relay begins to leave."""

    async def run(self) -> Reason:
        """Serve until it is over; why it is."""

    async def drain(self, seconds: float) -> None:
        """Take no new visitors, finish those who are there, and close."""


def farewell(session: RelaySession) -> Reason:
    """What a relay said when it began to leave."""
    return Reason(Close.DRAINING, "the relay is leaving", session.away.result().retry_after_ms)


class MultiplexRelaySession:
    """One connection in our own protocol."""

    def __init__(
        self,
        connection: MultiplexConnection,
        backend: StreamHandler,
        hello: Hello,
        connected: Connected,
    ) -> None:
        self.connection = connection
        self._backend = backend
        self._hello, self._connected = hello, connected
        self.session: MultiplexSession = MultiplexSession(self, relay=False)
        self.welcomed: bool = False
        self.away: asyncio.Future[Farewell] = asyncio.get_running_loop().create_future()
        """Done when the relay begins to leave."""
        self._empty = asyncio.Event()

    async def run(self) -> Reason:
        """Greet, and serve until it is over."""
        self.session.control(telling(FrameKind.HELLO, self._hello))
        return await self.connection.run(self.session)

    async def drain(self, seconds: float) -> None:
        """Leave in order: the relay answers the PING after it has read the GOAWAY, so what it
        opened before is here by then."""
        if self.session.state is not SessionState.OPEN:
            return
        self.session.leave(Farewell("drain"))
        heard: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.connection.on_pong = lambda: None if heard.done() else heard.set_result(None)
        self.connection.ping(self.session)
        try:
            async with asyncio.timeout(seconds):
                await heard
                while self.session.streams:
                    self._empty.clear()
                    await self._empty.wait()
        except TimeoutError:
            pass
        await self.connection.close(Reason(Close.GONE, "drained"))

    # What the session calls.

    def greeted(self, frame: Frame) -> None:
        welcome = document(frame, Welcome)
        if welcome.v != VERSION:
            raise ProtocolViolation(f"version {welcome.v}", Close.VERSION)
        self.session.agree(welcome.window, welcome.max_streams)
        self.welcomed = True
        self._connected(welcome.public_url)

    def opened(self, stream: MultiplexStream, opening: Opening) -> None:
        self._backend.opened(stream, opening)

    def leaving(self, farewell: Farewell) -> None:
        if not self.away.done():
            self.away.set_result(farewell)

    def emptied(self) -> None:
        self._empty.set()

    def ponged(self, payload: bytes) -> None:
        self.connection.ponged(payload)

    def wake(self) -> None:
        self.connection.wake()
