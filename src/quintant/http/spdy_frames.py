"""SPDY/3.1 as bytes, as far as clients of Kubernetes' streams speak it. Pure.

Streams within one connection: one is begun with headers, which are compressed, carries data, and is
ended by each side for itself. Windows are not kept, as these clients keep none: who does not read
holds up the connection. Frames, headers and what they are unpacked to have limits.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import NamedTuple

FRAME_BYTES = 1024 * 1024
"""Of one frame: clients send 32 KiB."""
HEADER_BYTES = 64 * 1024
"""Of the headers of one stream, unpacked."""
FIELDS = 64
"""Of the headers of one stream."""
FIN = 1
_VERSION = 3
_CONTROL = 0x80000000
_STREAM = 0x7FFFFFFF
_HEAD = struct.Struct("!II")
_WORD = struct.Struct("!I")

_NAMES = (  # noqa: SIM905 - as the protocol has it
    "options head post put delete trace accept accept-charset accept-encoding accept-language "
    "accept-ranges age allow authorization cache-control connection content-base content-encoding "
    "content-language content-length content-location content-md5 content-range content-type date "
    "etag expect expires from host if-match if-modified-since if-none-match if-range "
    "if-unmodified-since last-modified location max-forwards pragma proxy-authenticate "
    "proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status"
).split()
_MORE = ("200 OK", "version", "HTTP/1.1", "url", "public", "set-cookie", "keep-alive", "origin")
_TEXT = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 "
    "Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service "
    "UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, "
    "Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml"
    "+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset="
    "iso-8859-1,utf-,*,enq=0."
)
DICTIONARY = b"".join(
    [*(_WORD.pack(len(each)) + each.encode() for each in (*_NAMES, *_MORE)), _TEXT.encode()]
)
"""What both sides of a connection have compressed before the first header."""


class FrameType(IntEnum):
    """What a control frame says."""

    DATA = 0
    """None of the protocol's: of frames that carry data."""
    SYN_STREAM = 1
    SYN_REPLY = 2
    RST_STREAM = 3
    SETTINGS = 4
    PING = 6
    GOAWAY = 7
    HEADERS = 8
    WINDOW_UPDATE = 9


class SpdyFrame(NamedTuple):
    """One frame."""

    type: FrameType
    stream: int
    """Of a ping, its number."""
    last: bool = False
    """Whether nothing more comes on the stream."""
    payload: bytes = b""
    headers: Mapping[str, str] = {}


class SpdyError(Exception):
    """Bytes that are no SPDY, or too many of them."""


class SpdyReader:
    """Takes bytes as they come, gives frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._unpacker = zlib.decompressobj(zdict=DICTIONARY)

    def feed(self, data: bytes) -> Iterator[SpdyFrame]:
        """The frames that are whole with these bytes. SpdyError if what came is none."""
        self._buffer += data
        while len(self._buffer) >= _HEAD.size:
            first, second = _HEAD.unpack_from(self._buffer)
            size = second & 0xFFFFFF
            if size > FRAME_BYTES:
                raise SpdyError(f"a frame of {size} bytes")
            if len(self._buffer) < _HEAD.size + size:
                return
            payload = bytes(self._buffer[_HEAD.size : _HEAD.size + size])
            del self._buffer[: _HEAD.size + size]
            last = bool(second >> 24 & FIN)
            if not first & _CONTROL:
                yield SpdyFrame(FrameType.DATA, first & _STREAM, last, payload)
            elif (frame := self._control(first, last, payload)) is not None:
                yield frame

    def _control(self, first: int, last: bool, payload: bytes) -> SpdyFrame | None:
        if (first >> 16) & 0x7FFF != _VERSION:
            raise SpdyError(f"version {(first >> 16) & 0x7FFF}")
        try:
            kind = FrameType(first & 0xFFFF)
        except ValueError:
            return None
        if kind in (FrameType.DATA, FrameType.SETTINGS):
            return None
        if len(payload) < _WORD.size:
            raise SpdyError(f"a frame of type {kind} that is too short")
        number = _WORD.unpack_from(payload)[0]
        if kind is FrameType.PING:
            return SpdyFrame(kind, number)
        skipped = {FrameType.SYN_STREAM: 10, FrameType.SYN_REPLY: 4, FrameType.HEADERS: 4}.get(kind)
        if skipped is None:
            return SpdyFrame(kind, number & _STREAM)
        headers = self._headers(payload[skipped:])
        return SpdyFrame(kind, number & _STREAM, last, headers=headers)

    def _headers(self, packed: bytes) -> dict[str, str]:
        try:
            raw = self._unpacker.decompress(packed, HEADER_BYTES)
        except zlib.error as error:
            raise SpdyError(f"headers that cannot be unpacked: {error}") from None
        if self._unpacker.unconsumed_tail:
            raise SpdyError("headers that are too long")
        return _fields(raw)


class SpdyWriter:
    """Makes bytes of frames; headers are compressed one after another."""

    def __init__(self) -> None:
        self._packer = zlib.compressobj(zdict=DICTIONARY)

    def begin(self, stream: int, headers: Mapping[str, str]) -> bytes:
        """The beginning of a stream."""
        fixed = struct.pack("!IIH", stream, 0, 0)
        return encode_control(FrameType.SYN_STREAM, fixed + self._packed(headers))

    def reply(self, stream: int, headers: Mapping[str, str]) -> bytes:
        """The answer to the beginning of a stream."""
        return encode_control(FrameType.SYN_REPLY, _WORD.pack(stream) + self._packed(headers))

    def _packed(self, headers: Mapping[str, str]) -> bytes:
        texts = [each.encode() for pair in headers.items() for each in pair]
        raw = _WORD.pack(len(headers)) + b"".join(_WORD.pack(len(each)) + each for each in texts)
        return self._packer.compress(raw) + self._packer.flush(zlib.Z_SYNC_FLUSH)


def encode_control(kind: FrameType, payload: bytes) -> bytes:
    """A control frame."""
    return _HEAD.pack(_CONTROL | _VERSION << 16 | kind, len(payload)) + payload


def encode_data(stream: int, payload: bytes, last: bool = False) -> bytes:
    """A frame that carries data."""
    return _HEAD.pack(stream, (FIN if last else 0) << 24 | len(payload)) + payload


def encode_number(kind: FrameType, *numbers: int) -> bytes:
    """A control frame of numbers: RST_STREAM, PING, GOAWAY."""
    return encode_control(kind, b"".join(map(_WORD.pack, numbers)))


def _fields(raw: bytes) -> dict[str, str]:
    """Names and values of headers; SpdyError if they are none."""
    count, at = _number(raw, 0), _WORD.size
    if count > FIELDS:
        raise SpdyError(f"{count} headers")
    texts: list[str] = []
    for _ in range(2 * count):
        size, at = _number(raw, at), at + _WORD.size
        if at + size > len(raw):
            raise SpdyError("headers that are cut off")
        texts.append(raw[at : at + size].decode("utf-8", "replace"))
        at += size
    return dict(zip(texts[::2], texts[1::2], strict=True))


def _number(raw: bytes, at: int) -> int:
    if at + _WORD.size > len(raw):
        raise SpdyError("headers that are cut off")
    found: int = _WORD.unpack_from(raw, at)[0]
    return found
