"""What the relay itself answers: which hop failed, in a header for programs and a line for people.

| status | X-Portal-Error | when |
|---|---|---|
| 400, 405, 501, 505 | BAD_REQUEST | a request that is not passed on |
| 404 | UNKNOWN_APP | nobody has this name |
| 421 | MISDIRECTED | a host that this relay does not serve |
| 408 | TIMEOUT | a head that does not come to its end, a body that comes too slowly |
| 413, 429, 431 | LIMIT | too large, too many |
| 502 | SERVICE_UNREACHABLE, BAD_RESPONSE | the Service refuses, or does not speak HTTP |
| 503 | NO_TUNNEL | the app is known, and no tunnel of it is connected |
| 504 | TIMEOUT | the Service does not answer in time |
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from quintant.http.head import encode_head
from quintant.wire.portal import Fault

RETRY_SECONDS = 5


@dataclass(frozen=True, slots=True)
class RelayResponse:
    """An answer of the relay's own."""

    status: int
    error: str
    text: str
    retry_after: int = RETRY_SECONDS
    """Seconds, where it is said at all: with 429 and 503."""

    def encode(self, close: bool, bodyless: bool = False) -> bytes:
        """The whole response."""
        body = f"{self.text}\n".encode()
        fields = [
            (b"Content-Type", b"text/plain; charset=utf-8"),
            (b"Content-Length", b"%d" % len(body)),
            (b"Cache-Control", b"no-store"),
        ]
        if self.error:
            fields.append((b"X-Portal-Error", self.error.encode()))
        if self.status in (429, 503):
            fields.append((b"Retry-After", b"%d" % self.retry_after))
        if close:
            fields.append((b"Connection", b"close"))
        first = f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}".encode()
        return encode_head(first, fields) + (b"" if bodyless else body)


HEALTHY = RelayResponse(200, "", "ok")
NOT_FOUND = RelayResponse(404, "", "a relay of tunnels; apps are below its name")
MISDIRECTED = RelayResponse(421, "MISDIRECTED", "this host is not served here")
NO_TUNNEL = RelayResponse(503, "NO_TUNNEL", "the app is known, but no tunnel of it is connected")
BUSY = RelayResponse(429, "LIMIT", "every tunnel of the app has as many visitors as it takes")
SHARE = RelayResponse(429, "LIMIT", "this address has its share of the app's visitors already")
TOO_LARGE = RelayResponse(413, "LIMIT", "the body is larger than this relay takes")
SLOW = RelayResponse(504, "TIMEOUT", "the Service did not answer in time")
LOST = RelayResponse(503, "NO_TUNNEL", "the tunnel was lost before the Service answered")
CLOSED = RelayResponse(
    502, "SERVICE_UNREACHABLE", "the Service closed the connection without an answer"
)
BAD_RESPONSE = RelayResponse(
    502, "BAD_RESPONSE", "the Service does not speak HTTP/1.1 as it is defined"
)
_LIMITS = (413, 429, 431)


def too_fast(reason: str, seconds: int) -> RelayResponse:
    """More requests than the app allows, to all or to one visitor."""
    whose = "this address" if reason == "visitor_rate" else "all visitors of the app"
    return RelayResponse(429, "LIMIT", f"too many requests of {whose}", seconds)


def unknown(app: str) -> RelayResponse:
    """Nobody has this name."""
    return RelayResponse(404, "UNKNOWN_APP", f"there is no app {app} here")


def refused(status: int, text: str) -> RelayResponse:
    """A request that is not passed on."""
    error = "LIMIT" if status in _LIMITS else "TIMEOUT" if status == 408 else "BAD_REQUEST"
    return RelayResponse(status, error, text)


def failed(code: int, text: str) -> RelayResponse:
    """A stream that was reset before the Service answered."""
    if code == Fault.CONNECT_TIMEOUT:
        return SLOW
    if code == Fault.LIMIT:
        return BUSY
    if code in (0, Fault.DRAINING):
        return LOST
    return RelayResponse(502, "SERVICE_UNREACHABLE", f"the Service cannot be reached: {text}")
