"""One stream of a session: its states, its credit, and what waits to be sent. No I/O.

    OPEN --we finish--> SENT --they finish--> CLOSED        a reset closes at once, from any state
      \\--they finish--> GOT --we finish------/

Credit flows from the reader: a side may send only what the other side's application has room for,
so a slow visitor stops the Service's socket at the other end, and no queue grows between.
"""

from __future__ import annotations

from collections import deque
from enum import Enum
from typing import Protocol

from quintant.agents.multiplex.websocket import Parts
from quintant.wire.portal import CHUNK_BYTES, Fault

GROWTH = 32
"""How many times its first window a stream may have: 1 MiB, or 20 MB/s over a path of 50 ms."""
HIGH_BYTES = 128 * 1024
"""Above this a stream's source is stopped: two chunks, enough to keep a writer busy."""


class StreamState(Enum):
    """Which directions of a stream are open."""

    OPEN = "both"
    SENT = "they may still send"
    GOT = "we may still send"
    CLOSED = "neither"


class StreamEvent(Enum):
    """What may happen to a stream."""

    FINISHED = "we sent FIN"
    ENDED = "they sent FIN"
    RESET = "either side gave up"


# Python 3.11 calls a function for each `StreamState.OPEN`, dozens for each request.
_OPEN, _SENT, _GOT, _CLOSED = StreamState
_FINISHED, _ENDED, _RESET = StreamEvent


def step(state: StreamState, turn: StreamEvent) -> StreamState:
    """The state after a turn."""
    if turn is _RESET or state is _CLOSED:
        return _CLOSED
    if turn is _FINISHED:
        return _CLOSED if state is _GOT else _SENT
    return _CLOSED if state is _SENT else _GOT


class StreamSink(Protocol):
    """Who receives what a stream brings. Called in turn, never from within its own calls."""

    def accepted(self) -> None:
        """The other end reached what the stream leads to."""

    def received(self, payload: bytes | memoryview) -> None:
        """Bytes came; tell the stream when they are `consumed`."""

    def ended(self) -> None:
        """No more bytes will come."""

    def failed(self, code: int, text: str) -> None:
        """The stream was reset, or its connection is lost (code 0)."""

    def writable(self) -> None:
        """There is room again after `send` left none."""


class ByteStream(Protocol):
    """A stream, as those who use it see it."""

    sink: StreamSink

    @property
    def state(self) -> StreamState: ...
    @property
    def full(self) -> bool: ...
    @property
    def sent_bytes(self) -> int: ...
    @property
    def got_bytes(self) -> int: ...
    def accept(self) -> None: ...
    def send(self, payload: bytes) -> None: ...
    def finish(self) -> None: ...
    def reset(self, code: Fault, text: str = "") -> None: ...
    def consumed(self, size: int) -> None: ...


class Outbox(Protocol):
    """What a stream needs of its session: frames of its protocol, and turns."""

    def accept(self, stream: MultiplexStream) -> None:
        """Tell the other end that the stream leads somewhere."""

    def grant(self, stream: MultiplexStream, credit: int) -> None:
        """Tell the other end how much it may send besides."""

    def abandon(self, stream: MultiplexStream, code: Fault, text: str) -> None:
        """Tell the other end that the stream is given up, and why."""

    def data(self, stream: MultiplexStream, piece: bytes | memoryview, fin: bool) -> Parts:
        """The message that carries a piece of a stream, and that nothing follows."""

    def ready(self, stream: MultiplexStream) -> None:
        """The stream has something to send, and may."""

    def hold(self, size: int) -> None:
        """A stream holds so much more, or less."""

    def spare(self, size: int) -> int:
        """How much of this a stream may hold besides its window; it is the stream's from now on."""

    def forget(self, stream: MultiplexStream) -> None:
        """The stream is closed."""


class MultiplexStream:
    """One stream. The session feeds it; its owner reads by a sink, and writes by `send`."""

    __slots__ = (
        "_eaten", "_finishing", "_most", "_outbox", "allowance", "credit", "got_bytes", "held",
        "id", "pending", "queued", "sent_bytes", "sink", "state", "visitor", "waiting", "window",
    )  # fmt: skip

    def __init__(self, id: int, window: int, outbox: Outbox, visitor: str = "") -> None:
        self.id: int = id
        self.window: int = window
        self._outbox = outbox
        self.visitor: str = visitor
        """Whose it is, as far as it is known: visitors take turns."""
        self.state: StreamState = _OPEN
        self.sink: StreamSink = _NOBODY
        self.credit: int = window
        self.allowance: int = window
        self._most = window * GROWTH
        self.pending: deque[bytes | memoryview] = deque()
        self.queued: int = 0
        """Whether the session has it in its turns is `waiting`; how many bytes wait is this."""
        self.waiting: bool = False
        self.sent_bytes: int = 0
        self.got_bytes: int = 0
        self.held: int = 0
        """Bytes that came and are not used up."""
        self._eaten = 0
        self._finishing = False

    @property
    def full(self) -> bool:
        """Whether its source should stop until `writable`."""
        return self.queued >= HIGH_BYTES

    def accept(self) -> None:
        """Tell the other end that the stream leads somewhere."""
        self._outbox.accept(self)

    def send(self, payload: bytes) -> None:
        """Queue bytes; look at `full` afterwards."""
        if payload and self.state in (_OPEN, _GOT) and not self._finishing:
            self.pending.append(payload)
            self.queued += len(payload)
            if not self.waiting and self.credit > 0:
                self._outbox.ready(self)

    def finish(self) -> None:
        """Send FIN after what is queued."""
        if self.state in (_OPEN, _GOT) and not self._finishing:
            self._finishing = True
            self._ready()

    def reset(self, code: Fault, text: str = "") -> None:
        """Give up; the other end reads why."""
        if self.state is not _CLOSED:
            self._outbox.abandon(self, code, text)
            self._turn(_RESET)

    def consumed(self, size: int) -> None:
        """So many received bytes are used up; credit is granted when half a window is."""
        if used := size if size < self.held else self.held:
            self.held -= used
            self._outbox.hold(-used)
        self._eaten += size
        if self._eaten * 2 >= self.window and self.state in (_OPEN, _SENT):
            credit = self._eaten + self._grown()
            self._outbox.grant(self, credit)
            self.allowance += credit
            self._eaten = 0

    def _grown(self) -> int:
        """Widen the window of a reader that keeps up: then the way is what is slow, and more can be
        on it. By how much."""
        if self._eaten + self.allowance < self.window:
            return 0
        more = self._outbox.spare(min(self.window, self._most - self.window))
        self.window += more
        return more

    def chunk(self) -> Parts | None:
        """The next DATA frame, if the credit allows one."""
        piece = self._piece()
        fin = self._finishing and not self.pending
        if not piece and not fin:
            return None
        raw = self._outbox.data(self, piece, fin)
        if fin:
            self._turn(_FINISHED)
        return raw

    @property
    def sendable(self) -> bool:
        """Whether `chunk` would give one."""
        if self.state in (_SENT, _CLOSED):
            return False
        return self.credit > 0 if self.pending else self._finishing

    # What the session calls when frames arrive.

    def on_data(self, payload: bytes | memoryview, fin: bool) -> bool:
        """Bytes arrived; whether the credit allowed them."""
        size = len(payload)
        self.allowance -= size
        if self.allowance < 0 or self.state in (_GOT, _CLOSED):
            return False
        self.got_bytes += size
        if size:
            self.held += size
            self._outbox.hold(size)
            self.sink.received(payload)
        if fin and self.listening:
            self._turn(_ENDED)
            self.sink.ended()
        return True

    @property
    def listening(self) -> bool:
        """Whether the other end may still send."""
        return self.state in (_OPEN, _SENT)

    def on_credit(self, credit: int) -> None:
        """More may be sent."""
        self.credit += credit
        self._ready()

    def on_reset(self, code: int, text: str) -> None:
        """The other end gave up, or is gone."""
        if self.state is not _CLOSED:
            self._turn(_RESET)
            self.sink.failed(code, text)

    def give_up(self, text: str) -> None:
        """End it here and there: it holds more than it may."""
        self.reset(Fault.LIMIT, text)
        self.sink.failed(Fault.LIMIT, text)

    def _piece(self) -> bytes | memoryview:
        most = self.credit if self.credit < CHUNK_BYTES else CHUNK_BYTES
        if not self.pending or not most:
            return b""
        piece = self.pending.popleft()
        size = len(piece)
        if size > most:
            view = memoryview(piece)
            piece, rest, size = view[:most], view[most:], most
            self.pending.appendleft(rest)
        before = self.queued
        self.queued -= size
        self.credit -= size
        self.sent_bytes += size
        if self.queued < HIGH_BYTES <= before:
            self.sink.writable()
        return piece

    def _ready(self) -> None:
        if not self.waiting and self.sendable:
            self._outbox.ready(self)

    def _turn(self, turn: StreamEvent) -> None:
        self.state = step(self.state, turn)
        if self.state is _CLOSED:
            self.pending.clear()
            self.queued = 0
            self._outbox.hold(-self.held)
            self.held = 0
            self._outbox.forget(self)


class _Nobody:
    """The sink of a stream that has no reader yet, or any more."""

    def accepted(self) -> None: ...
    def received(self, payload: bytes | memoryview) -> None: ...
    def ended(self) -> None: ...
    def failed(self, code: int, text: str) -> None: ...
    def writable(self) -> None: ...


_NOBODY = _Nobody()
