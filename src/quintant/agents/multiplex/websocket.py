"""WebSocket messages as bytes (RFC 6455), as far as tunnels and relays need it. Pure.

Why not a library's: a tunnel's connection carries many small messages at once. Here a turn of the
loop takes in whatever came, and sends whatever there is, with one call each.

No extensions: a set reserved bit is an error, as are unmasked messages of a client. Messages in
several fragments are put together, pings and closes may come between.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from typing import NamedTuple

from quintant.agents.multiplex.mask import Bytes, apply_mask

_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
KEY_BYTES = 16
_SHORT, _MIDDLE = 126, 127
"""What the length field says where the length is in the next two, or eight, bytes."""
_PACK_SHORT, _PACK_MIDDLE = struct.Struct("!BBH").pack, struct.Struct("!BBQ").pack
_FIN, _MASKED, _RESERVED = 0x80, 0x80, 0x70
_CONTROL_BYTES = 125
BUFFER_BYTES = 16 * 1024
"""That a reader begins with; it grows to what comes at once."""
Key = Callable[[], bytes]
Parts = tuple[Bytes, ...]
"""A message that is not put together yet; all parts but the last have a multiple of four bytes, so
that a mask begins again with each."""


class Opcode(IntEnum):
    """What a message is."""

    CONTINUATION = 0
    TEXT = 1
    BINARY = 2
    CLOSE = 8
    PING = 9
    PONG = 10


# Plain numbers: Python 3.11 calls a function for each `Opcode.BINARY`.
_BINARY = int(Opcode.BINARY)
_WHOLE = _FIN | _BINARY
"""The first byte of a binary message in one frame."""


class WebSocketMessage(NamedTuple):
    """A whole message."""

    op: int
    payload: bytes


class WebSocketError(Exception):
    """Bytes that are no WebSocket, or a message that is too large."""


class FrameReader:
    """Takes bytes as they come, gives messages. `masked`: whether the other end is a client.

    Bytes are put where `room` says, by the reader of the connection; of them nothing is copied but
    payloads, once. Where messages are only a stream of bytes (`joined` is false), their fragments
    are not put together: each is given as it is.
    """

    def __init__(self, masked: bool, most: int, joined: bool = True) -> None:
        self._masked, self._most, self._joined = _MASKED if masked else 0, most, joined
        self._buffer = memoryview(bytearray(BUFFER_BYTES))
        self._at = self._end = 0
        self._needed = 2
        self._begun: WebSocketMessage | None = None

    def room(self, size: int) -> memoryview:
        """Where to put what comes next, with at least so much room."""
        held = self._end - self._at
        if self._end + size > len(self._buffer):
            old = self._buffer[self._at : self._end]
            if held + size > len(self._buffer):
                self._buffer = memoryview(bytearray(2 * (held + size)))
            self._buffer[:held] = old
            self._at, self._end = 0, held
        return self._buffer[self._end :]

    def filled(self, size: int) -> Iterator[tuple[int, bytes]]:
        """So much was put there: the messages that are whole now. WebSocketError if it is none."""
        self._end += size
        return self._messages() if self._end - self._at >= self._needed else iter(())

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """The messages that are whole with these bytes. WebSocketError if what came is none."""
        self.room(len(data))[: len(data)] = data
        return self.filled(len(data))

    def _messages(self) -> Iterator[tuple[int, bytes]]:
        raw, at, end = self._buffer, self._at, self._end
        self._needed = 2
        try:
            while end - at >= 2:
                begin, size = self._header(raw, at, end - at)
                if begin + size > end:
                    self._needed = begin + size - at
                    break
                view, first = raw[begin : begin + size], raw[at]
                key = bytes(raw[begin - 4 : begin])
                payload = apply_mask(view, key) if self._masked else bytes(view)
                self._at = at = begin + size
                if first == _WHOLE and self._begun is None:  # What nearly every frame is.
                    yield _BINARY, payload
                elif (found := self._message(first, payload)) is not None:
                    yield found
        except WebSocketError:
            self._at = self._end  # it cannot be known where the next one would begin
            raise

    def _header(self, raw: memoryview, at: int, have: int) -> tuple[int, int]:
        """Where the payload of the next frame begins, and its size; or what has to be here first,
        as if it were one."""
        first, second = raw[at], raw[at + 1]
        if second & _MASKED != self._masked or first & _RESERVED:
            raise WebSocketError("a frame with the wrong mask, or of an extension")
        size, begin = second & ~_MASKED, at + 2
        if size >= _SHORT:
            width = 2 if size == _SHORT else 8
            if have < 2 + width:
                return at, 2 + width
            size, begin = int.from_bytes(raw[begin : begin + width], "big"), begin + width
        if size > (_CONTROL_BYTES if first & 0x08 else self._most):
            raise WebSocketError(f"a frame of {size} bytes")
        return begin + (4 if self._masked else 0), size

    def _message(self, first: int, payload: bytes) -> WebSocketMessage | None:
        """The message that a frame completes."""
        op, fin = first & 0x0F, first & _FIN
        if op in (Opcode.CONTINUATION, Opcode.TEXT, Opcode.BINARY):
            if (op == Opcode.CONTINUATION) is (self._begun is None):
                raise WebSocketError("a fragment where none belongs")
            if not self._joined:
                return self._fragment(op, bool(fin), payload)
            if self._begun is not None:
                op, payload = self._begun.op, b"".join((self._begun.payload, payload))
                if len(payload) > self._most:
                    raise WebSocketError(f"a message of {len(payload)} bytes")
            self._begun = None if fin else WebSocketMessage(op, payload)
            return WebSocketMessage(op, payload) if fin else None
        if op not in (Opcode.CLOSE, Opcode.PING, Opcode.PONG) or not fin:
            raise WebSocketError(f"a frame of type {op}")
        return WebSocketMessage(op, payload)

    def _fragment(self, op: int, fin: bool, payload: bytes) -> WebSocketMessage:
        """A fragment, given as a message of the type that its first one has."""
        op = self._begun.op if self._begun is not None else op
        self._begun = None if fin else WebSocketMessage(op, b"")
        return WebSocketMessage(op, payload)


def encode_frames(op: Opcode, payloads: Iterable[Parts], key: Key | None) -> bytes:
    """Messages of one sort as bytes; with a `key` for each, as a client has to write them."""
    written: list[Bytes] = []
    first, masked = _FIN | op, _MASKED if key else 0
    for parts in payloads:
        size = len(parts[0]) if len(parts) == 1 else sum(map(len, parts))
        start = _start(first, size, masked)
        if key is None:
            written += (start, *parts)
        else:
            fresh = key()
            written += (start, fresh, *[apply_mask(part, fresh) for part in parts])
    return b"".join(written)


def encode_close(code: int, reason: bytes) -> bytes:
    """The payload of a close."""
    return struct.pack("!H", code) + reason


def read_close(payload: bytes) -> tuple[int, bytes]:
    """Code and reason of a close; 1005 if it has none."""
    return (int.from_bytes(payload[:2], "big"), payload[2:]) if len(payload) >= 2 else (1005, b"")


def accept_key(key: bytes) -> bytes:
    """What a server answers to a client's key."""
    return base64.b64encode(hashlib.sha1(key + _MAGIC).digest())


def valid_key(key: bytes) -> bool:
    """Whether a client's key is one."""
    try:
        return len(base64.b64decode(key, validate=True)) == KEY_BYTES
    except binascii.Error:
        return False


def fresh_key(random: bytes) -> bytes:
    """A client's key, of 16 random bytes."""
    return base64.b64encode(random)


def _start(first: int, size: int, masked: int) -> bytes:
    if size < _SHORT:
        return bytes((first, masked | size))
    if size < 1 << 16:
        return _PACK_SHORT(first, masked | _SHORT, size)
    return _PACK_MIDDLE(first, masked | _MIDDLE, size)
