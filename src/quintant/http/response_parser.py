"""A response as its bytes come in, cut anywhere: first its head, then its body. No sockets.

    HEAD --1xx--> HEAD          HEAD --any other--> BODY --all of it--> complete

What is not understood is a ProtocolError: a guess at where a response ends would give its rest to
the next.
"""

from __future__ import annotations

from quintant.http.body import BodyParser
from quintant.http.framing import response_framing
from quintant.http.head import ResponseHead, head_length, parse_response_head

RESPONSE_HEAD_BYTES = 64 * 1024
"""Of a head: an API server's with its warnings stays below."""
RESPONSE_FIELDS = 1000
"""A server may say many warnings, each in a field of its own."""

_END = 3
"""Bytes of the empty line behind a head that may have come before the rest of it."""


class ResponseParser:
    """One response to a request of some method."""

    __slots__ = ("_body", "_excess", "_held", "_method", "complete", "head", "length")

    def __init__(self, method: str) -> None:
        self.head: ResponseHead | None = None
        self.length: int = 0
        """The length of the body as far as it was announced."""
        self.complete: bool = False
        """Whether all of it has come."""
        self._method = method
        self._body: BodyParser | None = None
        self._held = b""
        self._excess = False

    @property
    def begun(self) -> bool:
        """Whether a byte of it has come."""
        return self.head is not None or bool(self._held)

    @property
    def keep_alive(self) -> bool:
        """Whether another request may follow on the same connection."""
        # A peer that continues after the end means something by it, and it cannot be known what.
        if self._excess or self.head is None:
            return False
        tunnel = self._method == "CONNECT" and self.head.status < 300
        return tunnel or self.head.keep_alive

    def feed(self, data: bytes) -> bytes:
        """What these bytes bring of the body; ProtocolError if they are no response."""
        if self._body is None:
            data = self._read_head(data)
        if not data or self._body is None:
            return b""
        if self.complete:
            self._excess = True
            return b""
        content = self._body.feed(data)
        self.complete = self._body.done
        self._excess = bool(self._body.rest)
        return content

    def end(self) -> bool:
        """The connection ended: whether the response did, too."""
        self.complete = self._body is not None and self._body.end()
        return self.complete

    def _read_head(self, data: bytes) -> bytes:
        """Take the head, or hold what there is of it; what came behind it."""
        seen = max(len(self._held) - _END, 0)
        data, self._held = self._held + data, b""
        while at := head_length(data, RESPONSE_HEAD_BYTES, seen):
            head, data, seen = parse_response_head(data[:at], RESPONSE_FIELDS), data[at:], 0
            if head.status >= 200:  # below is a word before the response, such as 103 Early Hints
                self._begin(head)
                return data
        self._held = data
        return b""

    def _begin(self, head: ResponseHead) -> None:
        framing = response_framing(head, self._method.encode())
        self.head, self.length = head, framing.size
        self._body = BodyParser(framing)
        self.complete = self._body.done
