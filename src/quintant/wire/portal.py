"""The protocol `portal-tunnel.v1` between a tunnel and a relay, as values and bytes. Pure.

One binary WebSocket message is one frame, big endian: type, flags, two zero bytes, stream, payload.
Stream 0 is the connection itself; the relay opens odd streams. `decode` refuses whatever a peer
that keeps to the protocol cannot have sent: what it returns is well-formed.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Annotated, NamedTuple, TypeVar

import msgspec

from quintant.wire.foreign import MalformedInput, decode_json

PROTOCOL = "portal-tunnel.v1"
"""The WebSocket subprotocol."""
PATH = "/relay"
VERSION = 1
CHUNK_BYTES = 64 * 1024
"""What is sent in one DATA frame, at most: small enough that no stream waits long for another."""
WINDOW_BYTES = 32 * 1024
"""The credit that a stream begins with, each way; a reader that keeps up grants more."""
STREAMS = 16_384
"""Open at once on a connection, if no end wants fewer: what idle ones cost is a socket each."""
MESSAGE_BYTES = 64 * 1024 + 8
"""No message is longer."""
FIN = 0x01
"""Flag of DATA: nothing follows in this direction."""
EXTENSION = 0x80
"""Types from here on are ignored by those who do not know them."""
TEXT_BYTES = 200
"""Of the words in a RST."""
REASON_BYTES = 123
"""Of the reason in a WebSocket's close frame (RFC 6455)."""
_HEADER = struct.Struct("!BBHI")
_CREDIT = struct.Struct("!I")
_CODE = struct.Struct("!H")
_PING_BYTES = 8
_SHORT_BYTES = 255
_MOST = MESSAGE_BYTES - _HEADER.size
T = TypeVar("T")


class MalformedFrame(ValueError):
    """Bytes that are no frame of this protocol."""


class FrameKind(IntEnum):
    """What a frame is."""

    HELLO = 1
    HELLO_ACK = 2
    OPEN = 3
    OPEN_ACK = 4
    DATA = 5
    WINDOW = 6
    RST = 7
    PING = 8
    PONG = 9
    GOAWAY = 10
    STATUS = 11


DATA = int(FrameKind.DATA)
"""What nearly every frame is; Python 3.11 calls a function for each `FrameKind.DATA`."""


class Fault(IntEnum):
    """Why a stream was reset."""

    CANCEL = 1
    REFUSED = 2
    CONNECT_TIMEOUT = 3
    DNS = 4
    TLS = 5
    PROTOCOL = 6
    FLOW = 7
    IDLE = 8
    DRAINING = 9
    LIMIT = 10


class Close(IntEnum):
    """Why a WebSocket was closed."""

    GONE = 1001
    BAD_FRAME = 4400
    UNAUTHENTICATED = 4401
    NOT_ALLOWED = 4403
    HELD = 4409
    VERSION = 4426
    LIMIT = 4429
    DRAINING = 4503


class StreamKind(IntEnum):
    """What a stream carries."""

    HTTP = 1


class Frame(NamedTuple):
    """One message. `kind` is a plain number where it is an extension that we do not know."""

    kind: int
    stream: int = 0
    payload: bytes = b""
    flags: int = 0


class RequestRate(msgspec.Struct, frozen=True):
    """So many requests per second, after a burst."""

    rate: Annotated[float, msgspec.Meta(gt=0)]
    burst: Annotated[int, msgspec.Meta(ge=1)]


class RequestRates(msgspec.Struct, frozen=True):
    """What a relay lets through to an app."""

    visitor: RequestRate | None = None
    """For each address."""
    app: RequestRate | None = None
    """For all together."""


class DataFrame(msgspec.Struct, frozen=True, gc=False):
    """A piece of a stream: of megabytes that are passed on, and not looked at."""

    stream: int
    payload: memoryview
    """Of the message that it came in; nothing is copied."""
    fin: bool


class Hello(msgspec.Struct, frozen=True):
    """The first frame of a tunnel: who it is, and what it wants to be reached as."""

    app: str
    group: str
    instance: str = ""
    agent: str = ""
    caps: tuple[str, ...] = ("http", "upgrade", "drain")
    window: int = WINDOW_BYTES
    max_streams: int = STREAMS
    v: int = VERSION
    limits: RequestRates | None = None


class Welcome(msgspec.Struct, frozen=True):
    """The relay's answer: from here on visitors come (HELLO_ACK)."""

    relay: str
    session: str
    public_url: str
    ping_ms: int
    lease_s: int
    window: int = WINDOW_BYTES
    max_frame: int = MESSAGE_BYTES
    max_streams: int = STREAMS
    v: int = VERSION


class Farewell(msgspec.Struct, frozen=True):
    """No new streams on this connection; those that are open finish (GOAWAY)."""

    reason: str
    retry_after_ms: int = 0


class Opening(NamedTuple):
    """What an OPEN tells: the sort of stream, who visits, and the request it is for."""

    kind: int
    peer: str
    request: str


class Reset(NamedTuple):
    """What a RST tells."""

    code: int
    text: str


class Reason(msgspec.Struct, frozen=True):
    """What a close frame tells."""

    code: int
    msg: str = ""
    retry_after_ms: int = 0


def encode(frame: Frame) -> bytes:
    """A frame as bytes."""
    return _HEADER.pack(frame.kind, frame.flags, 0, frame.stream) + frame.payload


def data(stream: int, payload: bytes | memoryview, fin: bool = False) -> bytes:
    """A DATA frame as bytes."""
    return b"".join((data_header(stream, fin), payload))


def data_header(stream: int, fin: bool) -> bytes:
    """What stands before the payload of a DATA frame."""
    return _HEADER.pack(DATA, FIN if fin else 0, 0, stream)


def decode(raw: bytes | bytearray | memoryview) -> Frame:
    """The frame in a message; Malformed if it is none."""
    size = len(raw) - _HEADER.size
    if not 0 <= size <= _MOST:
        raise MalformedFrame(f"a message of {len(raw)} bytes")
    kind, flags, zero, stream = _HEADER.unpack_from(raw)
    frame = Frame(kind, stream, bytes(memoryview(raw)[_HEADER.size :]), flags)
    if kind >= EXTENSION:
        return frame
    rule = _RULES.get(kind)
    if rule is None:
        raise MalformedFrame(f"a frame of type {kind}")
    if zero or flags & ~rule.flags:
        raise MalformedFrame("bits that mean nothing")
    if not rule.least <= size <= rule.most:
        raise MalformedFrame(f"{FrameKind(kind).name} of {size} bytes")
    if (stream == 0) is not rule.whole:
        raise MalformedFrame(f"{FrameKind(kind).name} on stream {stream}")
    return frame


def read_data(raw: bytes) -> DataFrame | None:
    """The DATA in a message; None if it is another frame, or none at all, as `decode` will say."""
    if not 0 <= len(raw) - _HEADER.size <= _MOST:
        return None
    kind, flags, zero, stream = _HEADER.unpack_from(raw)
    if kind != DATA or zero or flags & ~FIN or not stream:
        return None
    return DataFrame(stream, memoryview(raw)[_HEADER.size :], bool(flags))


def document(frame: Frame, type: type[T]) -> T:
    """The JSON document that a frame carries."""
    try:
        return decode_json(frame.payload, type)
    except MalformedInput as error:
        raise MalformedFrame(f"not a {type.__name__}: {error}") from None


def telling(kind: FrameKind, document: msgspec.Struct) -> Frame:
    """A frame of the connection that carries a JSON document."""
    return Frame(kind, 0, msgspec.json.encode(document))


def open_frame(stream: int, opening: Opening) -> Frame:
    """An OPEN."""
    peer, request = (text.encode()[:_SHORT_BYTES] for text in (opening.peer, opening.request))
    body = bytes((opening.kind, len(peer))) + peer + bytes((len(request),)) + request
    return Frame(FrameKind.OPEN, stream, body)


def read_open(frame: Frame) -> Opening:
    """What an OPEN tells."""
    kind = frame.payload[0] if frame.payload else 0
    peer, at = _short(frame.payload, 1)
    request, at = _short(frame.payload, at)
    if at != len(frame.payload):
        raise MalformedFrame("an OPEN with more than belongs to it")
    return Opening(kind, peer, request)


def credit_frame(stream: int, credit: int) -> Frame:
    """A WINDOW."""
    return Frame(FrameKind.WINDOW, stream, _CREDIT.pack(credit))


def read_credit(frame: Frame) -> int:
    """How much may be sent besides."""
    credit: int = _CREDIT.unpack(frame.payload)[0]
    return credit


def reset_frame(stream: int, code: Fault, text: str = "") -> Frame:
    """A RST."""
    return Frame(FrameKind.RST, stream, _CODE.pack(code) + _cut(text, TEXT_BYTES))


def read_reset(frame: Frame) -> Reset:
    """What a RST tells."""
    (code,) = _CODE.unpack_from(frame.payload)
    return Reset(code, frame.payload[_CODE.size :].decode("utf-8", "replace"))


def close_reason(reason: Reason) -> bytes:
    """The reason of a close frame; its words are cut to fit."""
    bare = len(msgspec.json.encode(msgspec.structs.replace(reason, msg="")))
    # Escapes make JSON longer than its text; plain ASCII has none but these two.
    words = reason.msg.encode("ascii", "replace").decode().replace('"', "'").replace("\\", "/")
    words = "".join(each if each.isprintable() else " " for each in words)
    cut = msgspec.structs.replace(reason, msg=words[: REASON_BYTES - bare])
    return msgspec.json.encode(cut)


def read_reason(code: int, raw: str | bytes | None) -> Reason:
    """What a close frame tells, whichever program wrote it."""
    try:
        reason = decode_json(raw or b"", Reason)
    except MalformedInput:
        words = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw or ""
        return Reason(code, words)
    return msgspec.structs.replace(reason, code=code)


def _short(raw: bytes, at: int) -> tuple[str, int]:
    """The text at a place, which begins with its length, and where it ends."""
    end = at + 1 + (raw[at] if at < len(raw) else 0)
    if at >= len(raw) or end > len(raw):
        raise MalformedFrame("an OPEN that breaks off")
    return raw[at + 1 : end].decode("utf-8", "replace"), end


def _cut(text: str, size: int) -> bytes:
    return text.encode()[:size].decode("utf-8", "ignore").encode()


class _Rule(NamedTuple):
    """What frames of a kind have in common."""

    least: int
    most: int
    """Bytes of the payload."""
    whole: bool = False
    """About the whole connection; all others are about a stream."""
    flags: int = 0
    """Those that mean something."""


_DOCUMENT = _Rule(2, 4096, whole=True)
_ECHO = _Rule(_PING_BYTES, _PING_BYTES, whole=True)
_RULES: dict[int, _Rule] = {
    FrameKind.HELLO: _DOCUMENT,
    FrameKind.HELLO_ACK: _DOCUMENT,
    FrameKind.OPEN: _Rule(3, 3 + 2 * _SHORT_BYTES),
    FrameKind.OPEN_ACK: _Rule(0, 0),
    FrameKind.DATA: _Rule(0, _MOST, flags=FIN),
    FrameKind.WINDOW: _Rule(_CREDIT.size, _CREDIT.size),
    FrameKind.RST: _Rule(_CODE.size, _CODE.size + TEXT_BYTES),
    FrameKind.PING: _ECHO,
    FrameKind.PONG: _ECHO,
    FrameKind.GOAWAY: _DOCUMENT,
    FrameKind.STATUS: _DOCUMENT,
}
