"""httputil.ReverseProxy: one connection to a pod, as something that a request is carried over.

It is what a stream of a tunnel is to the relay: `DuplexStream` reads and writes it, with
backpressure both ways.
"""

from __future__ import annotations

import asyncio
from typing import cast

from quintant.agents.multiplex.duplex import DuplexStream
from quintant.agents.multiplex.stream import StreamSink, StreamState
from quintant.cluster.kubeproxy.routes import RealServer
from quintant.wire.portal import Fault

HIGH_BYTES = 256 * 1024
"""Unread bytes above which a pod is not read."""
CONNECT_SECONDS = 5.0
"""How long to wait for one endpoint: on one machine an answer is there at once, or never."""


class BackendStream(asyncio.Protocol):
    """A connection to an endpoint."""

    sink: StreamSink

    def __init__(self) -> None:
        self.sent_bytes: int = 0
        self.got_bytes: int = 0
        self.full: bool = False
        self.state: StreamState = StreamState.OPEN
        self._unread = 0
        self._transport: asyncio.Transport | None = None
        self.duplex: DuplexStream = DuplexStream(self)
        """What reads and writes it."""

    def accept(self) -> None: ...

    def send(self, payload: bytes) -> None:
        """Send to the pod. What comes after the end is lost; who reads learns of that end."""
        if self._transport is not None and not self._transport.is_closing():
            self.sent_bytes += len(payload)
            self._transport.write(payload)

    def finish(self) -> None:
        """Nothing more will be sent."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write_eof()

    def reset(self, code: Fault, text: str = "") -> None:
        """Give the connection up."""
        self.state = StreamState.CLOSED
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        """End the connection after all that was sent."""
        self.state = StreamState.CLOSED
        if self._transport is not None:
            self._transport.close()

    def consumed(self, size: int) -> None:
        self._unread -= size
        if self._unread <= HIGH_BYTES and self._transport is not None:
            self._transport.resume_reading()

    # What the transport calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.got_bytes += len(data)
        self._unread += len(data)
        if self._unread > HIGH_BYTES and self._transport is not None:
            self._transport.pause_reading()
        self.sink.received(data)

    def eof_received(self) -> bool:
        self.sink.ended()
        return True

    def connection_lost(self, error: Exception | None) -> None:
        self._transport, self.full = None, False
        if error is None:
            self.sink.ended()
        else:
            self.sink.failed(0, str(error))
        self.sink.writable()

    def pause_writing(self) -> None:
        self.full = True

    def resume_writing(self) -> None:
        self.full = False
        self.sink.writable()


async def dial(address: RealServer) -> BackendStream | None:
    """A connection to an endpoint; None if it cannot be had."""
    loop, stream = asyncio.get_running_loop(), BackendStream()
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            await loop.create_connection(lambda: stream, *address)
    except (OSError, TimeoutError):
        return None
    return stream
