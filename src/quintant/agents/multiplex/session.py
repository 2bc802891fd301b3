"""A connection between tunnel and relay: frames in, frames out. Knows neither sockets nor time.

    GREETING --HELLO, HELLO_ACK--> OPEN --GOAWAY of either side--> DRAINING --> CLOSED

Control frames leave first; then visitors take turns, one chunk each, so that no download keeps a
small answer waiting, and no visitor with many of them another one. A peer that breaks the rules
gets a ProtocolViolation, which ends it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Protocol

from quintant.agents.multiplex.outgoing import Outgoing
from quintant.agents.multiplex.stream import MultiplexStream
from quintant.agents.multiplex.websocket import Parts
from quintant.agents.multiplex.window import GROWTH_BYTES, MEMORY_BYTES
from quintant.wire.portal import (
    EXTENSION,
    STREAMS,
    WINDOW_BYTES,
    Close,
    Farewell,
    Fault,
    Frame,
    FrameKind,
    MalformedFrame,
    Opening,
    credit_frame,
    data_header,
    decode,
    document,
    encode,
    open_frame,
    read_credit,
    read_data,
    read_open,
    read_reset,
    reset_frame,
    telling,
)

CREDIT_BYTES = 1 << 31
"""No stream can be owed more: a peer that grants it is broken."""
LOST = 0
"""The code of streams whose connection is lost; no RST has it."""


class ProtocolViolation(Exception):
    """The peer broke the protocol; the connection is closed with this code."""

    def __init__(self, text: str, code: Close = Close.BAD_FRAME) -> None:
        super().__init__(text)
        self.code = code


class SessionState(Enum):
    """How far a connection is."""

    GREETING = "nothing but the greeting"
    OPEN = "streams come and go"
    DRAINING = "streams only go"
    CLOSED = "nothing"


_OPEN = SessionState.OPEN


class SessionEvent(Enum):
    """What may happen to a connection."""

    GREETED = "HELLO and HELLO_ACK are exchanged"
    LEAVING = "either side said GOAWAY"
    LOST = "the WebSocket is closed"


def step(state: SessionState, turn: SessionEvent) -> SessionState:
    """The state after a turn."""
    if turn is SessionEvent.LOST or state is SessionState.CLOSED:
        return SessionState.CLOSED
    if turn is SessionEvent.GREETED:
        return SessionState.OPEN if state is SessionState.GREETING else state
    return SessionState.DRAINING


def relieve(streams: Iterable[MultiplexStream]) -> None:
    """Give up the stream that holds most: its reader is the slowest."""
    heaviest = max(streams, key=lambda stream: stream.held)
    heaviest.give_up("the connection holds more than its memory, and this stream most of it")


class SessionOwner(Protocol):
    """Who a session works for."""

    def greeted(self, frame: Frame) -> None:
        """HELLO or HELLO_ACK came; ProtocolViolation if it will not do."""

    def opened(self, stream: MultiplexStream, opening: Opening) -> None:
        """The relay opened a stream."""

    def leaving(self, farewell: Farewell) -> None:
        """The other end wants no new streams."""

    def emptied(self) -> None:
        """The last stream is over."""

    def ponged(self, payload: bytes) -> None:
        """A PING was answered."""

    def wake(self) -> None:
        """There is something to send."""


class MultiplexSession:
    """One end of a connection."""

    def __init__(self, owner: SessionOwner, relay: bool) -> None:
        self._owner, self._relay = owner, relay
        self.state: SessionState = SessionState.GREETING
        self.window: int = WINDOW_BYTES
        self.limit: int = STREAMS
        self.streams: dict[int, MultiplexStream] = {}
        self.outgoing: Outgoing = Outgoing(owner.wake)
        """What waits to be sent."""
        self._last = -1
        self._spare = GROWTH_BYTES
        self.held: int = 0
        """Bytes that streams hold, all together."""

    def agree(self, window: int, limit: int) -> None:
        """The greeting is done: streams have this window, and so many may be open."""
        self.window, self.limit = window, limit
        self.state = step(self.state, SessionEvent.GREETED)

    def open(self, opening: Opening) -> MultiplexStream:
        """A new stream to the other end."""
        self._last += 2
        stream = self._add(self._last, opening.peer)
        self.control(open_frame(stream.id, opening))
        return stream

    def leave(self, farewell: Farewell) -> None:
        """Say GOAWAY."""
        self.state = step(self.state, SessionEvent.LEAVING)
        self.control(telling(FrameKind.GOAWAY, farewell))

    def lose(self, why: str) -> None:
        """The connection is gone, and every stream with it."""
        self.state = step(self.state, SessionEvent.LOST)
        for stream in list(self.streams.values()):
            stream.on_reset(LOST, why)

    @property
    def room(self) -> bool:
        """Whether another stream may be opened."""
        return self.state is _OPEN and len(self.streams) < self.limit

    def receive(self, raw: bytes) -> None:
        """Take a message; ProtocolViolation if the peer must not have sent it."""
        try:
            piece = read_data(raw)  # What nearly every frame is.
            if piece is not None and (stream := self.streams.get(piece.stream)) is not None:
                if not stream.on_data(piece.payload, piece.fin):
                    self._refuse_data(stream)
            elif (frame := decode(raw)).kind < EXTENSION:
                self._receive(frame)
        except MalformedFrame as error:
            raise ProtocolViolation(str(error)) from None
        if self.held > MEMORY_BYTES:
            relieve(self.streams.values())

    def control(self, frame: Frame) -> None:
        """Send a frame before all data."""
        self.outgoing.control(encode(frame))

    def ping(self, stamp: bytes) -> None:
        """Ask for a sign of life; the stamp comes back with it."""
        self.control(Frame(FrameKind.PING, 0, stamp))

    # What streams call.

    def accept(self, stream: MultiplexStream) -> None:
        self.control(Frame(FrameKind.OPEN_ACK, stream.id))

    def grant(self, stream: MultiplexStream, credit: int) -> None:
        self.control(credit_frame(stream.id, credit))

    def abandon(self, stream: MultiplexStream, code: Fault, text: str) -> None:
        self.control(reset_frame(stream.id, code, text))

    def data(self, stream: MultiplexStream, piece: bytes | memoryview, fin: bool) -> Parts:
        return data_header(stream.id, fin), piece

    def ready(self, stream: MultiplexStream) -> None:
        self.outgoing.ready(stream)

    def hold(self, size: int) -> None:
        self.held += size

    def spare(self, size: int) -> int:
        given = min(size, self._spare)
        self._spare -= given
        return given

    def forget(self, stream: MultiplexStream) -> None:
        if self.streams.pop(stream.id, None) is not None:
            self._spare += stream.window - self.window
        if not self.streams:
            self._owner.emptied()

    def _receive(self, frame: Frame) -> None:
        if self.state is SessionState.GREETING or frame.kind in (
            FrameKind.HELLO,
            FrameKind.HELLO_ACK,
        ):
            self._greet(frame)
        elif frame.stream:
            self._about_stream(frame)
        elif frame.kind == FrameKind.PING:
            self.control(Frame(FrameKind.PONG, 0, frame.payload))
        elif frame.kind == FrameKind.PONG:
            self._owner.ponged(frame.payload)
        elif frame.kind == FrameKind.GOAWAY:
            farewell = document(frame, Farewell)
            self.state = step(self.state, SessionEvent.LEAVING)
            self._owner.leaving(farewell)

    def _greet(self, frame: Frame) -> None:
        expected = FrameKind.HELLO if self._relay else FrameKind.HELLO_ACK
        if self.state is not SessionState.GREETING or frame.kind != expected:
            raise ProtocolViolation(f"{FrameKind(frame.kind).name} where it does not belong")
        self._owner.greeted(frame)

    def _about_stream(self, frame: Frame) -> None:
        if frame.kind == FrameKind.OPEN:
            self._opened(frame)
            return
        stream = self.streams.get(frame.stream)
        if stream is not None:
            self._on_stream(stream, frame)
        elif frame.stream > self._last or frame.stream % 2 == 0:
            raise ProtocolViolation(
                f"{FrameKind(frame.kind).name} on stream {frame.stream}, which nobody opened"
            )
        # Else it crossed our RST or FIN on the way.

    def _on_stream(self, stream: MultiplexStream, frame: Frame) -> None:
        if frame.kind == FrameKind.WINDOW:
            if stream.credit + read_credit(frame) >= CREDIT_BYTES:
                raise ProtocolViolation(f"too much credit on stream {stream.id}")
            stream.on_credit(read_credit(frame))
        elif frame.kind == FrameKind.RST:
            stream.on_reset(*read_reset(frame))
        elif self._relay:
            stream.sink.accepted()
        else:
            raise ProtocolViolation("OPEN_ACK from the relay")

    def _refuse_data(self, stream: MultiplexStream) -> None:
        stream.reset(Fault.FLOW, "more than the credit")
        raise ProtocolViolation(f"more on stream {stream.id} than its credit")

    def _opened(self, frame: Frame) -> None:
        if self._relay or frame.stream <= self._last or frame.stream % 2 == 0:
            raise ProtocolViolation(f"OPEN of stream {frame.stream}")
        opening = read_open(frame)
        self._last = frame.stream
        if len(self.streams) >= self.limit:
            self.control(reset_frame(frame.stream, Fault.LIMIT, "too many streams"))
            return
        self._owner.opened(self._add(frame.stream, opening.peer), opening)

    def _add(self, id: int, visitor: str) -> MultiplexStream:
        stream = self.streams[id] = MultiplexStream(id, self.window, self, visitor)
        return stream
