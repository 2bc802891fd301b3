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
_FIN, _MASKED, _RESERVED = 0x80, 0x80, 0x70
_CONTROL_BYTES = 125
Key = Callable[[], bytes]


class Opcode(IntEnum):
    """What a message is."""

    CONTINUATION = 0
    TEXT = 1
    BINARY = 2
    CLOSE = 8
    PING = 9
    PONG = 10


class WebSocketMessage(NamedTuple):
    """A whole message; whoever keeps its payload copies it, once."""

    op: int
    payload: Bytes


class WebSocketError(Exception):
    """Bytes that are no WebSocket, or a message that is too large."""


class FrameReader:
    """Takes bytes as they come, gives messages. `masked`: whether the other end is a client.

    Where messages are only a stream of bytes (`joined` is false), their fragments are not put
    together: each is told as it is.
    """

    def __init__(self, masked: bool, most: int, joined: bool = True) -> None:
        self._masked, self._most, self._joined = _MASKED if masked else 0, most, joined
        self._parts: list[bytes] = []
        self._size, self._needed = 0, 2
        self._begun: WebSocketMessage | None = None

    def feed(self, data: bytes) -> Iterator[WebSocketMessage]:
        """The messages that are whole by now. WebSocketError if what came is none."""
        self._parts.append(data)
        self._size += len(data)
        if self._size < self._needed:
            return
        raw = data if len(self._parts) == 1 else b"".join(self._parts)
        self._parts.clear()
        at, end = 0, len(raw)
        while True:
            begin, size = self._header(raw, at)
            if begin + size > end:
                break
            payload: Bytes = memoryview(raw)[begin : begin + size]
            if self._masked:
                payload = apply_mask(payload, raw[begin - 4 : begin])
            found = self._whole(raw[at], payload)
            at = begin + size
            if found is not None:
                yield found
        self._parts.append(raw[at:])
        self._size, self._needed = end - at, begin + size - at

    def _header(self, raw: bytes, at: int) -> tuple[int, int]:
        """Where the payload of the next frame begins, and its size; or what has to be here first,
        as if it were one."""
        have = len(raw) - at
        if have < 2:
            return at, 2
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

    def _whole(self, first: int, payload: Bytes) -> WebSocketMessage | None:
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
            self._begun = None if fin else WebSocketMessage(op, bytes(payload))
            return WebSocketMessage(op, payload) if fin else None
        if op not in (Opcode.CLOSE, Opcode.PING, Opcode.PONG) or not fin:
            raise WebSocketError(f"a frame of type {op}")
        return WebSocketMessage(op, payload)

    def _fragment(self, op: int, fin: bool, payload: Bytes) -> WebSocketMessage:
        """A fragment, told as a message of the type that its first one has."""
        op = self._begun.op if self._begun is not None else op
        self._begun = None if fin else WebSocketMessage(op, b"")
        return WebSocketMessage(op, payload)


def encode_frames(op: Opcode, payloads: Iterable[bytes], key: Key | None) -> bytes:
    """Messages of one sort as bytes; with a `key` for each, as a client has to write them."""
    parts: list[bytes] = []
    for payload in payloads:
        header = _start(op, len(payload), _MASKED if key else 0)
        if key is None:
            parts += (header, payload)
        else:
            fresh = key()
            parts += (header, fresh, apply_mask(payload, fresh))
    return b"".join(parts)


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


def _start(op: Opcode, size: int, masked: int) -> bytes:
    if size < _SHORT:
        return bytes((_FIN | op, masked | size))
    if size < 1 << 16:
        return struct.pack("!BBH", _FIN | op, masked | _SHORT, size)
    return struct.pack("!BBQ", _FIN | op, masked | _MIDDLE, size)
