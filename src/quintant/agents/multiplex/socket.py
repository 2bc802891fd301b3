"""A WebSocket connection over a transport: messages in, messages out, with backpressure.

    HEAD --attach--> OPEN --close of either side--> CLOSING --> OVER

Before `attach` it collects the bytes of its handshake. Messages are given to the handler as they
come, within the call that brought them: no queue, no task. What comes is read straight to where the
messages are taken from.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Protocol, cast

from quintant.agents.multiplex.websocket import (
    FrameReader,
    Key,
    Opcode,
    Parts,
    WebSocketError,
    encode_close,
    encode_frames,
    read_close,
)
from quintant.http.head import head_length
from quintant.wire.portal import MESSAGE_BYTES, Reason, close_reason, read_reason

CLOSE_SECONDS = 2.0
"""For the last words of a connection that is given up."""
HIGH_BYTES = 128 * 1024
"""Unsent bytes above which nothing is added, here and in the kernel: what is urgent, and whose turn
it is, must not wait behind more."""
STREAM_BYTES = 1024 * 1024
"""No message of a stream of bytes is longer."""
READ_BYTES = 4096
"""There is always room for so much: most of what comes is less."""
_UNSENT: int | None = getattr(socket, "TCP_NOTSENT_LOWAT", None)
"""How much the kernel takes that it has not sent; not every system has it."""
_BINARY = int(Opcode.BINARY)
EARLY_BYTES = 256 * 1024
"""A peer that sends more before its handshake is done is none of ours."""


class MessageHandler(Protocol):
    """Who a socket works for."""

    def message(self, payload: bytes) -> None:
        """A binary message came."""

    def nonsense(self, what: str) -> None:
        """Something came that is no binary message."""

    def writable(self) -> None:
        """There is room again after `full`."""

    def over(self, reason: Reason) -> None:
        """The other end closed, or the connection is lost."""


class WebSocket(asyncio.BufferedProtocol):
    """One connection. `key` makes the masks of a client; a server has none."""

    def __init__(self, key: Key | None = None) -> None:
        self._key, self._reader = key, FrameReader(key is None, MESSAGE_BYTES)
        self._transport: asyncio.Transport | None = None
        self._handler: MessageHandler | None = None
        self._early, self._room = bytearray(), memoryview(b"")
        self._progress = asyncio.Event()
        self._lost = asyncio.Event()
        self._closing = False
        self.full: bool = False
        """Whether nothing more should be sent until `writable`."""

    def as_byte_stream(self) -> None:
        """Take messages for a stream of bytes, in which their ends mean nothing."""
        self._reader = FrameReader(self._key is None, STREAM_BYTES, joined=False)

    async def head(self) -> bytes:
        """The bytes of the head that a server answers with. ProtocolError if it is none."""
        while not (at := head_length(self._early)):
            if self._lost.is_set():
                raise ConnectionResetError("the relay closed the connection")
            self._progress.clear()
            await self._progress.wait()
        raw = bytes(self._early[:at])
        del self._early[:at]
        return raw

    def write(self, raw: bytes) -> None:
        """Send bytes of the handshake."""
        if self._transport is not None:
            self._transport.write(raw)

    def attach(self, handler: MessageHandler) -> None:
        """The handshake is done: from here on there are messages."""
        self._handler, early, self._early = handler, bytes(self._early), bytearray()
        if self._lost.is_set():
            handler.over(_LOST)
        elif early:
            self._take(handler, self._reader.feed(early))

    def send(self, payloads: Sequence[Parts]) -> bool:
        """Send binary messages, all at once; whether there is room for more."""
        if not self._closing and self._transport is not None:
            self._transport.write(encode_frames(Opcode.BINARY, payloads, self._key))
        return not self.full

    async def close(self, reason: Reason) -> None:
        """Say why, wait for the other end's close, and end the connection."""
        self._say_close(encode_close(reason.code, close_reason(reason)))
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._lost.wait()
        except TimeoutError:
            self.abort()

    def abort(self) -> None:
        """End the connection without a word."""
        if self._transport is not None:
            self._transport.abort()

    def limit_unread(self) -> None:
        """Have the kernel keep little that we have not read: nothing overtakes what it has."""
        self._set_option(socket.SOL_SOCKET, socket.SO_RCVBUF)

    def _set_option(self, level: int, option: int) -> None:
        found = self._transport.get_extra_info("socket") if self._transport is not None else None
        if found is not None:
            with suppress(OSError):  # It is closed already, or of another kind.
                found.setsockopt(level, option, HIGH_BYTES)

    def _say_close(self, payload: bytes) -> None:
        if not self._closing and self._transport is not None:
            self._closing = True
            self._transport.write(encode_frames(Opcode.CLOSE, ((payload,),), self._key))

    # What the transport calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Those of uvloop are transports without being derived from asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(HIGH_BYTES)
        if _UNSENT is not None:
            self._set_option(socket.IPPROTO_TCP, _UNSENT)

    def get_buffer(self, sizehint: int) -> memoryview:
        if self._handler is not None:
            return self._reader.room(max(sizehint, READ_BYTES))
        self._room = memoryview(bytearray(READ_BYTES))
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        if self._handler is not None:
            self._take(self._handler, self._reader.filled(nbytes))
        else:
            self.data_received(bytes(self._room[:nbytes]))

    def data_received(self, data: bytes) -> None:
        """Take what came before the connection became this one's."""
        if self._handler is not None:
            self._take(self._handler, self._reader.feed(data))
            return
        self._early += data
        self._progress.set()
        if len(self._early) > EARLY_BYTES:
            self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost.set()
        self._progress.set()
        self._transport = None
        if self._handler is not None:
            self._handler.over(Reason(0, f"connection lost: {exc}") if exc else _LOST)

    def pause_writing(self) -> None:
        self.full = True

    def resume_writing(self) -> None:
        self.full = False
        if self._handler is not None:
            self._handler.writable()

    def _take(self, handler: MessageHandler, messages: Iterator[tuple[int, bytes]]) -> None:
        try:
            for op, payload in messages:
                if op == _BINARY:
                    handler.message(payload)
                else:
                    self._other(handler, op, payload)
        except WebSocketError as error:
            handler.nonsense(str(error))

    def _other(self, handler: MessageHandler, op: int, payload: bytes) -> None:
        if op == Opcode.CLOSE:
            self._say_close(payload)
            code, words = read_close(payload)
            handler.over(read_reason(code, words))
            if self._transport is not None:
                self._transport.close()
        elif op == Opcode.TEXT:
            handler.nonsense("a text message")
        elif op == Opcode.PING and not (self.full or self._closing) and self._transport is not None:
            # Only the last ping needs an answer: those who do not read get none.
            self._transport.write(encode_frames(Opcode.PONG, ((payload,),), self._key))


_LOST = Reason(0, "connection lost")
