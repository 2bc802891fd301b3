"""Both ends of a session, joined without a network: what one emits, the other receives."""

from __future__ import annotations

from typing import Generic, TypeVar

from quintant.agents.multiplex.session import MultiplexSession
from quintant.agents.multiplex.stream import ByteStream, MultiplexStream
from quintant.wire.portal import Farewell, Frame, Opening

S = TypeVar("S", bound=ByteStream)


class Ear(Generic[S]):
    """A sink that remembers, and consumes when it is told to."""

    def __init__(self, stream: S) -> None:
        self.stream, self.got = stream, b""
        self.held = 0
        self.over = self.took = False
        self.failure: tuple[int, str] | None = None
        stream.sink = self

    def accepted(self) -> None:
        self.took = True

    def received(self, payload: bytes | memoryview) -> None:
        self.got += payload
        self.held += len(payload)

    def ended(self) -> None:
        self.over = True

    def failed(self, code: int, text: str) -> None:
        self.failure = (code, text)

    def writable(self) -> None: ...

    def consume(self, size: int) -> None:
        size = min(size, self.held)
        self.held -= size
        self.stream.consumed(size)


class End:
    """An end of a session, and what happened at it."""

    def __init__(self, relay: bool) -> None:
        self.session = MultiplexSession(self, relay)
        self.ears: dict[int, Ear[MultiplexStream]] = {}
        self.farewell: Farewell | None = None
        self.empties = 0

    def open(self, peer: str = "192.0.2.1") -> Ear[MultiplexStream]:
        stream = self.session.open(Opening(1, peer, "id"))
        handler = self.ears[stream.id] = Ear(stream)
        return handler

    def greeted(self, frame: Frame) -> None:
        self.session.agree(self.session.window, self.session.limit)

    def opened(self, stream: MultiplexStream, opening: Opening) -> None:
        self.ears[stream.id] = Ear(stream)

    def leaving(self, farewell: Farewell) -> None:
        self.farewell = farewell

    def emptied(self) -> None:
        self.empties += 1

    def ponged(self, payload: bytes) -> None: ...

    def wake(self) -> None: ...


def joined(window: int = 64, limit: int = 4) -> tuple[End, End]:
    """A relay and a tunnel that have greeted each other."""
    relay, tunnel = End(relay=True), End(relay=False)
    for end in (relay, tunnel):
        end.session.agree(window, limit)
    return relay, tunnel


def pump(one: End, other: End) -> None:
    """Carry frames until neither end has any."""
    moved = True
    while moved:
        moved = False
        for source, target in ((one, other), (other, one)):
            while (parts := source.session.outgoing.emit()) is not None:
                target.session.receive(b"".join(parts))
                moved = True
