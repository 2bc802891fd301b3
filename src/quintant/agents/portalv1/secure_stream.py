"""A stream of yamux with a handshake before it and records on it; used like any other stream.

    HANDSHAKE --keys--> OPEN --either side--> over

What is sent before the keys are there waits, and so may the handshake. Credit is given back for
what was used up; a record that is longer than the window gets it beforehand, out of a budget.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from quintant.agents.multiplex.stream import HIGH_BYTES, ByteStream, StreamSink, StreamState
from quintant.agents.portalv1.handshake import Handshake, HandshakeFailed
from quintant.agents.portalv1.handshake_queue import HandshakeQueue
from quintant.agents.portalv1.messages import FrameBuffer, TooLong
from quintant.agents.portalv1.records import (
    OVERHEAD_BYTES,
    BadRecord,
    RecordBudget,
    RecordOpener,
    RecordSealer,
)
from quintant.wire.portal import Fault

HANDSHAKE_SECONDS = 10.0
"""A peer that has not agreed on keys by then is given up."""

Opened = Callable[["SecureStream"], None]


class SecureStream:
    """One end of a sealed stream over `inner`; `opened` is called when the keys are there.

    The handshake begins when its turn in `queue` comes; without a queue, at once.
    """

    def __init__(
        self,
        inner: ByteStream,
        handshake: Handshake,
        budget: RecordBudget,
        opened: Opened,
        queue: HandshakeQueue | None = None,
    ) -> None:
        self._inner, self._handshake, self._budget = inner, handshake, budget
        self._opened = opened
        self.sink: StreamSink = _Nobody()
        self._frames = FrameBuffer()
        self._reader: RecordOpener | None = None
        self._writer: RecordSealer | None = None
        self._waiting: list[bytes] = []
        self._finishing = self._stopped = False
        self._prepaid = self._ahead = 0
        self._timer: asyncio.TimerHandle | None = None
        inner.sink = self
        self._turn = (queue or HandshakeQueue()).enter(self._begin)

    @property
    def state(self) -> StreamState:
        """Which directions are open."""
        return self._inner.state

    @property
    def full(self) -> bool:
        """Whether its source should stop until `writable`."""
        return self._inner.full or sum(map(len, self._waiting)) >= HIGH_BYTES

    @property
    def sent_bytes(self) -> int:
        """With all that belongs to records."""
        return self._inner.sent_bytes

    @property
    def got_bytes(self) -> int:
        """With all that belongs to records."""
        return self._inner.got_bytes

    def accept(self) -> None:
        """The other end learns it by the bytes that come."""

    def send(self, payload: bytes) -> None:
        """Queue bytes; look at `full` afterwards."""
        if self._writer is None:
            self._waiting.append(payload)
            return
        for record in self._writer.seal_all(payload):
            self._inner.send(record)

    def finish(self) -> None:
        """Nothing more will be sent."""
        self._finishing = True
        if self._writer is not None:
            self._inner.finish()

    def reset(self, code: Fault, text: str = "") -> None:
        """Give up."""
        self._inner.reset(code, text)
        self._end()

    def consumed(self, size: int) -> None:
        """So many received bytes are used up."""
        paid = min(size, self._prepaid)
        self._prepaid -= paid
        self._budget.give(paid)
        if size > paid:
            self._inner.consumed(size - paid)

    # What the inner stream calls.

    def accepted(self) -> None: ...

    def received(self, payload: bytes | memoryview) -> None:
        raw = bytes(payload)
        try:
            if self._reader is None:
                self._agree(raw)
            else:
                self._read(self._reader, raw)
        except HandshakeFailed as failure:
            self._give_up(Fault.REFUSED if failure.refused else Fault.PROTOCOL, str(failure))
        except (TooLong, BadRecord) as failure:
            self._give_up(Fault.PROTOCOL, str(failure))

    def ended(self) -> None:
        if self._reader is None:
            self._give_up(Fault.REFUSED, "closed before the handshake was done")
        else:
            self.sink.ended()

    def failed(self, code: int, text: str) -> None:
        self._end()
        self.sink.failed(code, text)

    def writable(self) -> None:
        self.sink.writable()

    def _begin(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(HANDSHAKE_SECONDS, self._late)
        if first := self._handshake.start():
            self._inner.send(first)

    def _settle(self) -> None:
        """The handshake is over, whatever came of it."""
        if self._timer is not None:
            self._timer.cancel()
        self._turn.leave()

    def _agree(self, payload: bytes) -> None:
        """The handshake continues."""
        self._frames.feed(payload)
        self._inner.consumed(len(payload))
        while (keys := self._handshake.keys) is None:
            if (message := self._frames.next()) is None:
                return
            if answer := self._handshake.answer(message):
                self._inner.send(answer)
        self._settle()
        self._reader, self._writer = RecordOpener(keys), RecordSealer(keys)
        self._opened(self)
        self._flush()
        if rest := self._frames.rest():
            self._prepaid += len(rest)
            self._budget.take(len(rest))
            self._read(self._reader, rest)

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for payload in waiting:
            self.send(payload)
        if self._finishing:
            self._inner.finish()
        elif waiting and not self.full:
            self.sink.writable()

    def _read(self, reader: RecordOpener, payload: bytes) -> None:
        """Records, or parts of them."""
        for content in reader.feed(payload):
            self._ahead = 0
            self.consumed(OVERHEAD_BYTES)
            if content:
                self.sink.received(content)
            if self._stopped:
                return
        if more := max(0, reader.ahead - self._ahead):
            self._budget.take(more)
            self._prepaid += more
            self._ahead += more
            self._inner.consumed(more)

    def _late(self) -> None:
        self._give_up(Fault.CONNECT_TIMEOUT, "no handshake in time")

    def _give_up(self, code: Fault, text: str) -> None:
        self.reset(code, text)
        self.sink.failed(code, text)

    def _end(self) -> None:
        if not self._stopped:
            self._stopped = True
            self._settle()
            self._budget.give(self._prepaid)
            self._prepaid = 0


class _Nobody:
    """The sink of a stream that has no reader yet."""

    def accepted(self) -> None: ...
    def received(self, payload: bytes | memoryview) -> None: ...
    def ended(self) -> None: ...
    def failed(self, code: int, text: str) -> None: ...
    def writable(self) -> None: ...
