"""Connections without a network: what one end writes, the other's protocol receives.

Nothing is lost, nothing is late, and an end that does not read holds what was sent to it, as the
kernel would. Time may be virtual.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

P = TypeVar("P", bound=asyncio.BaseProtocol)
PIECE_BYTES = 64 * 1024


class WireEnd(asyncio.Transport):
    """One end of a connection."""

    def __init__(self, protocol: Any) -> None:
        super().__init__()
        self._protocol, self._loop = protocol, asyncio.get_running_loop()
        self._waiting: deque[bytes | None] = deque()
        self._paused = self._closed = self._lost = False
        self.other: WireEnd | None = None

    def write(self, data: bytes | bytearray | memoryview) -> None:
        for at in range(0, len(data), PIECE_BYTES):
            self._send(bytes(data[at : at + PIECE_BYTES]))

    def write_eof(self) -> None:
        self._send(None)

    def can_write_eof(self) -> bool:
        return True

    def is_closing(self) -> bool:
        return self._closed

    def close(self) -> None:
        self._end(None)

    def abort(self) -> None:
        self._end(ConnectionResetError("reset"))

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...

    def pause_reading(self) -> None:
        self._paused = True

    def resume_reading(self) -> None:
        self._paused = False
        self._loop.call_soon(self._receive)

    def is_reading(self) -> bool:
        return not self._paused

    def set_protocol(self, protocol: Any) -> None:
        self._protocol = protocol

    def get_protocol(self) -> Any:
        return self._protocol

    def take(self, data: bytes | None) -> None:
        """Something came from the other end; None is its end."""
        self._waiting.append(data)
        self._receive()

    def lose(self, error: Exception | None) -> None:
        """The connection is over."""
        self._closed = True
        self._waiting.clear()
        if not self._lost:
            self._lost = True
            self._protocol.connection_lost(error)

    def _send(self, data: bytes | None) -> None:
        if not self._closed and self.other is not None:
            self._loop.call_soon(self.other.take, data)

    def _end(self, error: Exception | None) -> None:
        if self._closed:
            return
        self._closed = True
        self._loop.call_soon(self.lose, None)
        if self.other is not None:
            over = (self.other.take, None) if error is None else (self.other.lose, error)
            self._loop.call_soon(*over)

    def _receive(self) -> None:
        while self._waiting and not (self._paused or self._closed):
            data = self._waiting.popleft()
            if data is not None:
                self._protocol.data_received(data)
            elif not self._protocol.eof_received():
                self.close()


def join(one: WireEnd, other: WireEnd) -> None:
    """Make two ends one connection."""
    one.other, other.other = other, one
    for end in (other, one):
        end.get_protocol().connection_made(end)


def connect(make: Callable[[], P], accepted: WireEnd) -> P:
    """A connection to an end that was accepted; the protocol of this one."""
    protocol = make()
    join(WireEnd(protocol), accepted)
    return protocol


def streams(accepted: WireEnd) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to an end that was accepted, as streams."""
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    end = WireEnd(protocol)
    join(end, accepted)
    return reader, asyncio.StreamWriter(end, protocol, reader, loop)
