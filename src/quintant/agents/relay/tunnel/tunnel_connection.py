"""A connected tunnel, as the relay sees it: its session, its idle streams, its name."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sized
from typing import Protocol

from quintant.agents.multiplex.connection import MultiplexConnection
from quintant.agents.multiplex.duplex import DuplexStream
from quintant.agents.multiplex.session import MultiplexSession, ProtocolViolation, SessionState
from quintant.agents.multiplex.stream import ByteStream, MultiplexStream
from quintant.agents.multiplex.window import agree_window
from quintant.agents.relay.tunnel.stream_pool import StreamPool
from quintant.wire.portal import (
    STREAMS,
    VERSION,
    Close,
    Farewell,
    Frame,
    FrameKind,
    Hello,
    Opening,
    StreamKind,
    Welcome,
    document,
    telling,
)

Join = Callable[["MultiplexTunnel", Hello], Welcome]
_OPEN = SessionState.OPEN


class TunnelSession(Protocol):
    """What is asked of a session, whatever its protocol."""

    limit: int
    held: int
    """Bytes that streams hold, all together."""

    @property
    def state(self) -> SessionState: ...
    @property
    def room(self) -> bool: ...
    @property
    def streams(self) -> Sized: ...


class TunnelConnection(ABC):
    """A tunnel that visitors can be sent to."""

    session: TunnelSession
    """What its streams are streams of."""

    def __init__(self, connection: MultiplexConnection) -> None:
        self.connection = connection
        self.pool: StreamPool = StreamPool()
        self.app = ""

    @abstractmethod
    def open(self, peer: str, request: str) -> ByteStream:
        """A new stream to the Service."""

    @abstractmethod
    def leave(self, retry_after_ms: int) -> None:
        """Tell it that no more visitors come."""

    @property
    def live(self) -> bool:
        """Whether it takes visitors."""
        return self.session.state is _OPEN

    @property
    def room(self) -> bool:
        """Whether it takes one more."""
        return self.free > 0

    @property
    def load(self) -> int:
        """How many visitors it has."""
        return len(self.session.streams) - len(self.pool)

    @property
    def free(self) -> int:
        """How many more it takes."""
        session = self.session
        if session.state is not _OPEN:
            return 0
        return max(0, session.limit - len(session.streams) + len(self.pool.idle))

    def stream(self, peer: str, request: str, reuse: bool) -> tuple[DuplexStream, bool]:
        """A stream of a visitor to the Service, and whether it was used before."""
        duplex = self.pool.take(peer) if reuse else None
        if duplex is not None:
            return duplex, True
        if not self.session.room:
            self.pool.clear()
        return DuplexStream(self.open(peer, request)), False

    def give_back(self, peer: str, duplex: DuplexStream) -> None:
        """A stream whose request and response are whole may carry another of its visitor."""
        if self.live:
            self.pool.give(peer, duplex, asyncio.get_running_loop().time())
        else:
            duplex.close()

    def send_away(self, retry_after_ms: int) -> None:
        """The relay is going down: no more visitors here."""
        if self.live:
            self.leave(retry_after_ms)
            self.pool.clear()


class MultiplexTunnel(TunnelConnection):
    """A tunnel of ours; `join` lets it take part in its name, or raises ProtocolViolation."""

    def __init__(self, connection: MultiplexConnection, join: Join, most: int = STREAMS) -> None:
        super().__init__(connection)
        self._join, self._most = join, most
        self.session: MultiplexSession = MultiplexSession(self, relay=True)

    def open(self, peer: str, request: str) -> ByteStream:
        """A new stream to the Service."""
        return self.session.open(Opening(StreamKind.HTTP, peer, request))

    def leave(self, retry_after_ms: int) -> None:
        """Tell it that no more visitors come."""
        self.session.leave(Farewell("restart", retry_after_ms))

    # What the session calls.

    def greeted(self, frame: Frame) -> None:
        hello = document(frame, Hello)
        if hello.v != VERSION:
            raise ProtocolViolation(f"version {hello.v} is not spoken here", Close.VERSION)
        window, streams = agree_window(hello.window, hello.max_streams, self._most)
        welcome = self._join(self, hello)
        self.session.agree(window, streams)
        answer = Welcome(
            welcome.relay, welcome.session, welcome.public_url, welcome.ping_ms, welcome.lease_s,
            window=window, max_streams=streams,
        )  # fmt: skip
        self.session.control(telling(FrameKind.HELLO_ACK, answer))

    def opened(self, stream: MultiplexStream, opening: Opening) -> None: ...

    def leaving(self, farewell: Farewell) -> None:
        self.pool.clear()

    def emptied(self) -> None: ...

    def ponged(self, payload: bytes) -> None:
        self.connection.ponged(payload)

    def wake(self) -> None:
        self.connection.wake()
