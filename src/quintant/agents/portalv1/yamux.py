"""yamux frames as bytes: many streams over one. Pure.

A frame is a header of twelve bytes, big endian, and after DATA as many bytes as its length says:
version, type, flags, stream, length. The body of DATA is given in the pieces in which it comes, so
that no frame is ever held whole.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum, IntFlag
from typing import NamedTuple

Bytes = bytes | bytearray | memoryview

WINDOW_BYTES = 256 * 1024
"""The credit that every stream begins with, each way."""
_VERSION = 0
_HEADER = struct.Struct("!BBHII")


class MalformedYamux(ValueError):
    """Bytes that are no yamux."""


class YamuxKind(IntEnum):
    """What a frame is."""

    DATA = 0
    WINDOW = 1
    PING = 2
    GOAWAY = 3


class YamuxFlag(IntFlag):
    """What a frame does besides."""

    SYN = 1
    ACK = 2
    FIN = 4
    RST = 8


_FLAGS = sum(YamuxFlag)


class YamuxHeader(NamedTuple):
    """The head of a frame. `length` is that of the body only for DATA; else it is a value."""

    kind: int
    flags: int
    stream: int
    length: int


class YamuxBody(NamedTuple):
    """A piece of the body of the last header; `rest` bytes are still to come."""

    payload: bytes
    rest: int


def encode_header(kind: YamuxKind, flags: int, stream: int, length: int) -> bytes:
    """The head of a frame, or all of one without a body."""
    return _HEADER.pack(_VERSION, kind, flags, stream, length)


def encode_data(stream: int, payload: Bytes, fin: bool) -> bytes:
    """A piece of a stream; its end is a frame of its own, or a reader might see it too early."""
    end = encode_header(YamuxKind.WINDOW, YamuxFlag.FIN, stream, 0) if fin else b""
    if not payload:
        return end
    head = encode_header(YamuxKind.DATA, 0, stream, len(payload))
    return b"".join((head, payload, end))


class YamuxDecoder:
    """Takes bytes as they come, gives headers and pieces of bodies."""

    def __init__(self) -> None:
        self._head = b""
        self._rest = 0

    def feed(self, raw: Bytes) -> Iterator[YamuxHeader | YamuxBody]:
        """What is in these bytes. MalformedYamux if what came is none."""
        view, at = memoryview(raw), 0
        while at < len(view):
            if self._rest:
                piece = bytes(view[at : at + self._rest])
                at += len(piece)
                self._rest -= len(piece)
                yield YamuxBody(piece, self._rest)
                continue
            missing = _HEADER.size - len(self._head)
            self._head += bytes(view[at : at + missing])
            at += missing
            if len(self._head) == _HEADER.size:
                yield self._header()

    def _header(self) -> YamuxHeader:
        version, kind, flags, stream, length = _HEADER.unpack(self._head)
        self._head = b""
        if version != _VERSION or kind > YamuxKind.GOAWAY or flags & ~_FLAGS:
            raise MalformedYamux("bytes that are no yamux")
        if (kind in (YamuxKind.PING, YamuxKind.GOAWAY)) is (stream != 0):
            raise MalformedYamux(f"{YamuxKind(kind).name} on stream {stream}")
        if kind == YamuxKind.DATA:
            self._rest = length
        return YamuxHeader(kind, flags, stream, length)
