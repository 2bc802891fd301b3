"""Which body a head announces: none, so many bytes, chunks, or everything until the end.

One answer or none: a message whose length could be read in two ways is refused.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from quintant.http.head import Head, ProtocolError, RequestHead, ResponseHead

_DIGITS = 18
"""Of a length: more than anybody has."""
_BODYLESS = (204, 304)


class FramingKind(Enum):
    """How the end of a body is known."""

    NONE = "there is no body"
    LENGTH = "by counting"
    CHUNKED = "by a last chunk"
    CLOSE = "by the end of the connection"


class Framing(NamedTuple):
    """How a body is framed; `size` where it is counted."""

    kind: FramingKind
    size: int = 0


_NONE, _CLOSE = Framing(FramingKind.NONE), Framing(FramingKind.CLOSE)
_CHUNKED, _LENGTH = Framing(FramingKind.CHUNKED), FramingKind.LENGTH


def request_framing(head: RequestHead) -> Framing:
    """The body of a request."""
    return _announced(head, 400) or _NONE


def response_framing(head: ResponseHead, method: bytes) -> Framing:
    """The body of a response to a method."""
    if method == b"CONNECT" and 200 <= head.status < 300:
        return _NONE  # whatever it says of a length: a tunnel begins behind it
    announced = _announced(head, 502)
    if method == b"HEAD" or head.status < 200 or head.status in _BODYLESS:
        return _NONE
    return announced or _CLOSE


def _announced(head: Head, status: int) -> Framing | None:
    if b"transfer-encoding" not in head.index and b"content-length" not in head.index:
        return None
    encodings, lengths = head.all(b"transfer-encoding"), head.all(b"content-length")
    if encodings:
        if lengths or head.minor == 0:
            raise ProtocolError(status, "a transfer encoding that can be read in two ways")
        if len(encodings) > 1 or encodings[0].lower() != b"chunked":
            raise ProtocolError(max(status, 501), "unsupported transfer encoding")
        return _CHUNKED
    value = lengths[0]
    if lengths.count(value) < len(lengths) or not value.isdigit() or len(value) > _DIGITS:
        raise ProtocolError(status, "a length that can be read in two ways")
    return Framing(_LENGTH, int(value))
