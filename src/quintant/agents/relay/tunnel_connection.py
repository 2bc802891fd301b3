"""A connected tunnel, as the relay sees it: its session, its idle streams, its name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from quintant.agents.multiplex.connection import Link
from quintant.agents.multiplex.duplex import Flow
from quintant.agents.multiplex.session import Session, State, Violation
from quintant.agents.multiplex.stream import Stream
from quintant.agents.multiplex.window import affordable
from quintant.agents.relay.stream_pool import Pool
from quintant.wire.portal import (
    VERSION,
    Close,
    Farewell,
    Frame,
    Hello,
    Kind,
    Opening,
    StreamKind,
    Welcome,
    document,
    telling,
)

Join = Callable[["Tunnel", Hello], Welcome]


class Tunnel:
    """One connection; `join` lets it take part in its name, or raises Violation."""

    def __init__(self, link: Link, join: Join) -> None:
        self.link, self._join = link, join
        self.session = Session(self, relay=True)
        self.pool = Pool()
        self.app = ""

    @property
    def live(self) -> bool:
        """Whether it takes visitors."""
        return self.session.state is State.OPEN

    @property
    def room(self) -> bool:
        """Whether it takes one more."""
        return self.session.room or (self.live and len(self.pool) > 0)

    @property
    def load(self) -> int:
        """How many visitors it has."""
        return len(self.session.streams) - len(self.pool)

    def stream(self, peer: str, request: str, reuse: bool) -> tuple[Flow, bool]:
        """A stream to the Service, and whether it was used before."""
        flow = self.pool.take() if reuse else None
        if flow is not None:
            return flow, True
        if not self.session.room:
            self.pool.clear()
        return Flow(self.session.open(Opening(StreamKind.HTTP, peer, request))), False

    def give_back(self, flow: Flow) -> None:
        """A stream whose request and response are whole may carry another."""
        if self.live:
            self.pool.give(flow, asyncio.get_running_loop().time())
        else:
            flow.close()

    def send_away(self, retry_after_ms: int) -> None:
        """The relay is going down: no more visitors here."""
        if self.live:
            self.session.leave(Farewell("restart", retry_after_ms))
            self.pool.clear()

    # What the session calls.

    def greeted(self, frame: Frame) -> None:
        hello = document(frame, Hello)
        if hello.v != VERSION:
            raise Violation(f"version {hello.v} is not spoken here", Close.VERSION)
        window, streams = affordable(hello.window, hello.max_streams)
        welcome = self._join(self, hello)
        self.session.settle(window, streams)
        answer = Welcome(
            welcome.relay, welcome.session, welcome.public_url, welcome.ping_ms, welcome.lease_s,
            window=window, max_streams=streams,
        )  # fmt: skip
        self.session.control(telling(Kind.HELLO_ACK, answer))

    def opened(self, stream: Stream, opening: Opening) -> None: ...

    def leaving(self, farewell: Farewell) -> None:
        self.pool.clear()

    def emptied(self) -> None: ...

    def ponged(self, payload: bytes) -> None:
        self.link.ponged(payload)

    def wake(self) -> None:
        self.link.wake()
