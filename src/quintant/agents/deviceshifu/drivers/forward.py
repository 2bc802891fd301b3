"""What goes through unchanged between a caller and a device that speaks HTTP. Pure.

Fields of one hop end here. A query is taken apart and written anew, so that what a caller escaped
stays escaped.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, urlencode

from quintant.http.encode_request import header_line
from quintant.http.head import Head, ResponseHead
from quintant.http.request import Request

_HOP = frozenset(
    (b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization",
     b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade", b"content-length")
)  # fmt: skip
_REQUEST = _HOP | {b"host", b"expect"}
_RESPONSE = _HOP | {b"date"}
_SAFE = "/!$&'()*+,;=:@-._~"


def device_headers(request: Request, host: str) -> str:
    """The fields of the request to the device, as lines."""
    lines = [header_line("Host", host)]
    dropped = _dropped(request.head, _REQUEST)
    for name, value in request.head.fields:
        if name.lower() not in dropped and (text := value.decode("latin-1")).isprintable():
            lines.append(f"{name.decode('ascii')}: {text}\r\n")
    return "".join(lines)


def device_target(instruction: str, query: str = "") -> str:
    """The path of an instruction at the device, with what its caller asked."""
    path = f"/{quote(instruction, safe=_SAFE)}"
    pairs = parse_qsl(query, keep_blank_values=True) if query else ()
    return f"{path}?{urlencode(pairs)}" if pairs else path


def passed_headers(head: ResponseHead) -> Mapping[str, str]:
    """The fields of a device's reply that its caller gets."""
    dropped = _dropped(head, _RESPONSE)
    names = dict.fromkeys(name.lower() for name, _ in head.fields)
    return {name.decode("ascii"): _joined(head, name) for name in names if name not in dropped}


def _dropped(head: Head, usual: frozenset[bytes]) -> frozenset[bytes]:
    """The fields that end here: those of one hop, and what the peer says are."""
    values = head.words(b"connection")
    return usual.union(values) if values else usual


def _joined(head: Head, name: bytes) -> str:
    return b", ".join(head.all(name)).decode("utf-8", "surrogateescape")
