"""grpcProber: the gRPC health protocol, with just enough of HTTP/2 for one question.

One request on one connection: no library is loaded for it. Headers of the answer are skipped, not
read: a SERVING is in the data, and whatever ends the stream without data is no SERVING.
"""

from __future__ import annotations

import struct
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator

SERVING = "SERVING"
NAMES = {0: "UNKNOWN", 1: SERVING, 2: "NOT_SERVING", 3: "SERVICE_UNKNOWN"}
"""The statuses of the protocol, by number."""

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _RESET, _SETTINGS, _PING, _GOAWAY = 0, 1, 3, 4, 6, 7
_END_STREAM, _END_HEADERS, _ACK, _PADDED = 1, 4, 1, 8
_STREAM = 1
_LARGEST_FRAME = 16384
# From HPACK's table of what is known to everybody: POST and http.
_POST, _HTTP = b"\x83", b"\x86"
_LENGTH_BITS = 7


async def check(reader: StreamReader, writer: StreamWriter, authority: str, service: str) -> str:
    """What a server says of a service; the empty name means all of it. EOFError without answer."""
    writer.write(_PREFACE + _frame(_SETTINGS, 0, 0, b""))
    writer.write(_frame(_HEADERS, _END_HEADERS, _STREAM, _headers(authority)))
    writer.write(_frame(_DATA, _END_STREAM, _STREAM, _message(_question(service))))
    data = b""
    async for kind, flags, stream, body in _frames(reader):
        if kind == _SETTINGS and not flags & _ACK:
            writer.write(_frame(_SETTINGS, _ACK, 0, b""))
        elif kind == _PING and not flags & _ACK:
            writer.write(_frame(_PING, _ACK, 0, body))
        elif kind == _DATA and stream == _STREAM:
            data += _unpadded(body, flags)
        over = kind in (_DATA, _HEADERS) and flags & _END_STREAM
        if kind in (_RESET, _GOAWAY) or (over and stream == _STREAM):
            break
    return _answer(data)


async def _frames(reader: StreamReader) -> AsyncIterator[tuple[int, int, int, bytes]]:
    while True:
        head = await reader.readexactly(9)
        length, (kind, flags, stream) = int.from_bytes(head[:3]), struct.unpack(">BBI", head[3:])
        if length > _LARGEST_FRAME:
            raise EOFError("a frame that we did not allow")
        yield kind, flags, stream & 0x7FFFFFFF, await reader.readexactly(length)


def _frame(kind: int, flags: int, stream: int, body: bytes) -> bytes:
    return len(body).to_bytes(3) + struct.pack(">BBI", kind, flags, stream) + body


def _headers(authority: str) -> bytes:
    """The headers of the request, each as a literal that nobody remembers."""
    literals = {
        ":path": "/grpc.health.v1.Health/Check",
        ":authority": authority,
        "content-type": "application/grpc",
        "te": "trailers",
        "user-agent": "kube-probe",
    }
    texts = (_text(name) + _text(value) for name, value in literals.items())
    return _POST + _HTTP + b"".join(b"\x00" + text for text in texts)


def _text(text: str) -> bytes:
    return _number(len(text), _LENGTH_BITS) + text.encode()


def _number(value: int, bits: int) -> bytes:
    """A whole number in a prefix of so many bits."""
    limit = (1 << bits) - 1
    if value < limit:
        return bytes([value])
    rest = value - limit
    found = [limit]
    while rest >= 128:
        found.append(rest % 128 + 128)
        rest //= 128
    return bytes([*found, rest])


def _question(service: str) -> bytes:
    """HealthCheckRequest: the service in field 1."""
    name = service.encode()
    return b"\x0a" + _varint(len(name)) + name if name else b""


def _message(body: bytes) -> bytes:
    return b"\x00" + len(body).to_bytes(4) + body


def _answer(data: bytes) -> str:
    """HealthCheckResponse: the status in field 1, absent for 0."""
    if len(data) < 5:
        raise EOFError("no answer")
    message = data[5 : 5 + int.from_bytes(data[1:5])]
    number = message[1] if message[:1] == b"\x08" and len(message) > 1 else 0
    return NAMES.get(number, str(number))


def _unpadded(body: bytes, flags: int) -> bytes:
    return body[1 : len(body) - body[0]] if flags & _PADDED else body


def _varint(value: int) -> bytes:
    found = b""
    while value >= 128:
        found, value = found + bytes([value % 128 + 128]), value // 128
    return found + bytes([value])
