"""A client's connection, as a server sees it: bytes in with a limit, bytes out with backpressure.

Reading stops while no reader takes what came; a connection that breaks cancels the task that serves
it, so that nothing is done for a client who left.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

from quintant.http.deadline import Deadline
from quintant.http.hosts import on_loopback

HIGH_BYTES = 64 * 1024
"""Unread bytes above which a client is not read."""

_AT_ONCE = struct.pack("ii", 1, 0)
"""Of SO_LINGER: closing sends a RST."""


class Disconnected(Exception):
    """The client's connection is over."""


class Connection(asyncio.Protocol):
    """One connection; `arrive` makes the task that serves it."""

    def __init__(self, arrive: Callable[[Any], asyncio.Task[None]]) -> None:
        self._arrive = arrive
        self._task: asyncio.Task[None] | None = None
        self._deadline: Deadline | None = None
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._over = self._lost = self._stopped = False
        self.full: bool = False
        """Whether the client has yet to read what was written."""
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self.idle = True
        """Whether it is between two requests: closing it then loses nothing."""

    @property
    def transport(self) -> asyncio.Transport:
        """The connection itself."""
        assert self._transport is not None
        return self._transport

    @cached_property
    def over_loopback(self) -> bool:
        """Whether the client is on this machine; asking the kernel for every request is dear."""
        return on_loopback(self.transport.get_extra_info("sockname"))

    @cached_property
    def peer_host(self) -> str:
        """The address of the client; empty if it has none."""
        peer = self.transport.get_extra_info("peername")
        return str(peer[0]) if isinstance(peer, tuple) else ""

    @property
    def deadline(self) -> Deadline:
        """When the task that serves it waits for too long."""
        assert self._deadline is not None
        return self._deadline

    async def fill(self) -> bool:
        """Wait for more bytes in the buffer; False at the end."""
        if self._over:
            return False
        if self._stopped:
            self._stopped = False
            self.transport.resume_reading()
        self._reader = asyncio.get_running_loop().create_future()
        await self._reader
        return bool(self._buffer)

    @property
    def buffer(self) -> bytearray:
        """What came, and was not taken yet."""
        return self._buffer

    def take(self, size: int) -> bytes:
        """The first bytes of the buffer."""
        raw = bytes(self._buffer[:size])
        del self._buffer[:size]
        return raw

    async def read(self) -> bytes:
        """What came since, at least one byte; nothing at the end."""
        if not self._buffer and not await self.fill():
            return b""
        raw = bytes(self._buffer)
        self._buffer.clear()
        return raw

    def unread(self, raw: bytes) -> None:
        """Put back what belongs to the next request."""
        self._buffer[:0] = raw

    def send(self, raw: bytes | memoryview) -> None:
        """Send, however much waits to be read already."""
        if self._lost or self._transport is None:
            raise Disconnected
        self._transport.write(raw)

    async def write(self, raw: bytes | memoryview) -> None:
        """Send, and wait until there is room for more."""
        self.send(raw)
        if self.full:
            await self.drained()

    async def drained(self) -> None:
        """Wait until there is room for more."""
        while self.full and not self._lost:
            self._writer = asyncio.get_running_loop().create_future()
            await self._writer

    def close(self) -> None:
        """End the connection after what was written."""
        # Once: closed again, the TLS of asyncio in older releases cannot be aborted any more.
        if self._transport is not None and not self._transport.is_closing():
            self._transport.close()

    def served(self) -> None:
        """End the connection: the task that served it has ended.

        Nothing of either is kept. In a cycle they would hold the buffers of TLS, most of a megabyte
        for a client that did not read, until the garbage collector comes.
        """
        self.close()
        self.deadline.stop()
        self._task = self._deadline = None
        if self._lost:
            self._transport = None

    def abort(self) -> None:
        """End the connection at once, whatever was written."""
        if self._transport is not None and not self._lost:
            self._transport.abort()

    def reset(self) -> None:
        """End the connection so that the client cannot take it for the end of an answer."""
        raw = self.transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self.transport.abort()

    # What the transport calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Those of uvloop are transports without being derived from asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        self._task = self._arrive(self)
        self._deadline = Deadline(self._task)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if len(self._buffer) > HIGH_BYTES and not self._stopped:
            self._stopped = True
            self.transport.pause_reading()
        _wake(self._reader)

    def eof_received(self) -> bool | None:
        # Who ends its side of HTTP has left, as other servers see it too.
        self._over = True
        _wake(self._reader)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._over = self._lost = True
        if self._deadline is not None:
            self._deadline.stop()
        if self._task is None:
            self._transport = None
        else:
            self._task.cancel()

    def pause_writing(self) -> None:
        self.full = True

    def resume_writing(self) -> None:
        self.full = False
        _wake(self._writer)


def _wake(waiting: asyncio.Future[None] | None) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)
