"""One end of a yamux connection: frames in, frames out. Knows neither sockets nor time.

It begins in GREETING, which yamux does not know: its user says by `agree` when the other end
has shown that it is a relay or a tunnel. Streams are those of our own protocol (`MultiplexStream`),
with yamux's frames. A peer that breaks the rules gets a ProtocolViolation, which ends it.
"""

from __future__ import annotations

from typing import Protocol

from quintant.agents.multiplex.outgoing import Outgoing
from quintant.agents.multiplex.session import (
    CREDIT_BYTES,
    LOST,
    ProtocolViolation,
    SessionEvent,
    SessionState,
    relieve,
    step,
)
from quintant.agents.multiplex.stream import MultiplexStream
from quintant.agents.multiplex.websocket import Parts
from quintant.agents.multiplex.window import GROWTH_BYTES, MEMORY_BYTES
from quintant.agents.portalv1.yamux import (
    WINDOW_BYTES,
    Bytes,
    MalformedYamux,
    YamuxBody,
    YamuxDecoder,
    YamuxFlag,
    YamuxHeader,
    YamuxKind,
    encode_data,
    encode_header,
)
from quintant.wire.portal import STREAMS, Fault

_STAMP_BITS = 32


class YamuxOwner(Protocol):
    """Who a session works for."""

    def opened(self, stream: MultiplexStream) -> None:
        """The other end opened a stream."""

    def leaving(self) -> None:
        """The other end wants no new streams."""

    def emptied(self) -> None:
        """The last stream is over."""

    def ponged(self, payload: bytes) -> None:
        """A ping was answered; this is its stamp."""

    def wake(self) -> None:
        """There is something to send."""


class YamuxSession:
    """One end of a connection; `client` is the end that connected, and opens odd streams."""

    def __init__(self, owner: YamuxOwner, client: bool) -> None:
        self._owner, self._parity = owner, 1 if client else 0
        self.state: SessionState = SessionState.GREETING
        self.limit: int = STREAMS
        self.streams: dict[int, MultiplexStream] = {}
        self.outgoing: Outgoing = Outgoing(owner.wake)
        self._decoder = YamuxDecoder()
        self._next = 1 if client else 2
        self._last = 0
        self._into: MultiplexStream | None = None
        self._ends = False
        self._reserved: set[int] = set()
        self._stamps: dict[int, bytes] = {}
        self._pings = 0
        self._spare = GROWTH_BYTES
        self.held: int = 0
        """Bytes that streams hold, all together."""

    def agree(self) -> None:
        """The other end is what it should be."""
        self.state = step(self.state, SessionEvent.GREETED)

    @property
    def room(self) -> bool:
        """Whether another stream may be opened."""
        return self.state is SessionState.OPEN and len(self.streams) < self.limit

    def open(self) -> MultiplexStream:
        """A new stream to the other end."""
        stream = self.reserve()
        self._reserved.discard(stream.id)
        self._control(YamuxKind.WINDOW, YamuxFlag.SYN, stream.id, 0)
        return stream

    def reserve(self, visitor: str = "") -> MultiplexStream:
        """A new stream, of which the other end learns with the first byte that is sent."""
        stream = self._add(self._next, visitor)
        self._next += 2
        self._reserved.add(stream.id)
        return stream

    def lose(self, why: str) -> None:
        """The connection is gone, and every stream with it."""
        self.state = step(self.state, SessionEvent.LOST)
        for stream in list(self.streams.values()):
            stream.on_reset(LOST, why)

    def ping(self, stamp: bytes) -> None:
        """Ask for a sign of life; the stamp comes back with it."""
        self._pings = (self._pings + 1) % (1 << _STAMP_BITS)
        self._stamps = {self._pings: stamp}  # Only the last one matters.
        self._control(YamuxKind.PING, YamuxFlag.SYN, 0, self._pings)

    def receive(self, raw: Bytes) -> None:
        """Take bytes; ProtocolViolation if the peer must not have sent them."""
        try:
            for found in self._decoder.feed(raw):
                if isinstance(found, YamuxBody):
                    self._body(found)
                else:
                    self._header(found)
        except MalformedYamux as error:
            raise ProtocolViolation(str(error)) from None
        if self.held > MEMORY_BYTES:
            relieve(self.streams.values())

    # What streams call.

    def accept(self, stream: MultiplexStream) -> None: ...

    def grant(self, stream: MultiplexStream, credit: int) -> None:
        self._control(YamuxKind.WINDOW, 0, stream.id, credit)

    def abandon(self, stream: MultiplexStream, code: Fault, text: str) -> None:
        if stream.id not in self._reserved:
            self._control(YamuxKind.WINDOW, YamuxFlag.RST, stream.id, 0)

    def data(self, stream: MultiplexStream, piece: bytes | memoryview, fin: bool) -> Parts:
        raw = encode_data(stream.id, piece, fin)
        if stream.id in self._reserved:
            self._reserved.discard(stream.id)
            raw = encode_header(YamuxKind.WINDOW, YamuxFlag.SYN, stream.id, 0) + raw
        return (raw,)

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
            self._spare += stream.window - WINDOW_BYTES
        self._reserved.discard(stream.id)
        if not self.streams:
            self._owner.emptied()

    def _control(self, kind: YamuxKind, flags: int, stream: int, value: int) -> None:
        self.outgoing.control(encode_header(kind, flags, stream, value))

    def _add(self, id: int, visitor: str = "") -> MultiplexStream:
        stream = self.streams[id] = MultiplexStream(id, WINDOW_BYTES, self, visitor)
        return stream

    def _header(self, head: YamuxHeader) -> None:
        if head.kind == YamuxKind.PING:
            self._pinged(head)
        elif head.kind == YamuxKind.GOAWAY:
            self.state = step(self.state, SessionEvent.LEAVING)
            self._owner.leaving()
        else:
            self._about_stream(head)

    def _pinged(self, head: YamuxHeader) -> None:
        if head.flags & YamuxFlag.SYN:
            self._control(YamuxKind.PING, YamuxFlag.ACK, 0, head.length)
        elif (stamp := self._stamps.pop(head.length, None)) is not None:
            self._owner.ponged(stamp)

    def _about_stream(self, head: YamuxHeader) -> None:
        if head.flags & YamuxFlag.SYN:
            self._opened(head.stream)
        stream = self.streams.get(head.stream)
        if stream is None:
            if not self._known(head.stream):
                raise ProtocolViolation(f"stream {head.stream}, which nobody opened")
            self._into = None  # It crossed our RST on the way; its body is passed over.
            return
        if head.flags & YamuxFlag.RST:
            stream.on_reset(Fault.CANCEL, "the other end gave up")
        elif head.kind == YamuxKind.WINDOW:
            self._window(stream, head)
        else:
            self._data(stream, head)

    def _window(self, stream: MultiplexStream, head: YamuxHeader) -> None:
        if stream.credit + head.length >= CREDIT_BYTES:
            raise ProtocolViolation(f"too much credit on stream {stream.id}")
        stream.on_credit(head.length)
        if head.flags & YamuxFlag.FIN:
            self._take(stream, b"", True)

    def _data(self, stream: MultiplexStream, head: YamuxHeader) -> None:
        if head.length > stream.allowance:
            raise ProtocolViolation(f"more on stream {stream.id} than its credit")
        self._into, self._ends = stream, bool(head.flags & YamuxFlag.FIN)
        if not head.length and self._ends:
            self._take(stream, b"", True)

    def _body(self, body: YamuxBody) -> None:
        stream = self._into
        if stream is not None and stream.id in self.streams:
            self._take(stream, body.payload, self._ends and not body.rest)

    def _take(self, stream: MultiplexStream, payload: bytes, fin: bool) -> None:
        if stream.listening:
            stream.on_data(payload, fin)
        elif payload:
            raise ProtocolViolation(f"stream {stream.id} goes on after its end")

    def _known(self, id: int) -> bool:
        """Whether a stream of this number was open once."""
        return id < self._next if id % 2 == self._parity else id <= self._last

    def _opened(self, id: int) -> None:
        # A peer that opens several at once may send them in another order than it numbered them.
        if id % 2 == self._parity or id in self.streams:
            raise ProtocolViolation(f"a new stream {id}")
        self._last = max(id, self._last)
        if len(self.streams) >= self.limit or self.state is SessionState.CLOSED:
            self._control(YamuxKind.WINDOW, YamuxFlag.RST, id, 0)
            return
        stream = self._add(id)
        self._control(YamuxKind.WINDOW, YamuxFlag.ACK, id, 0)
        self._owner.opened(stream)
