"""A request as a server takes it: the head at once, the body piece by piece and only if wanted.

    WAITING --first byte--> READING --head--> ANSWERING --> WAITING ... --> over

A client that waits for leave to send its body gets it when a handler begins to read.
"""

from __future__ import annotations

import re

import msgspec

from quintant.http.body import BodyParser
from quintant.http.connection import Connection, Disconnected
from quintant.http.framing import FramingKind, request_framing
from quintant.http.head import (
    FIELDS,
    HEAD_BYTES,
    ProtocolError,
    RequestHead,
    head_length,
    parse_request_head,
)

LATE = "the request did not come to its end"
_END = 3
"""Bytes of the empty line behind a head that may have come before the rest of it."""
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?]*")
"""What stands before the path when a client takes the server for a proxy."""
_HOST = re.compile(rb"[0-9A-Za-z!$%&'()*+,\-.:;=\[\]_~]*")


class RequestLimits(msgspec.Struct, frozen=True):
    """How much a client may send, and how long it may take."""

    head_bytes: int = HEAD_BYTES
    fields: int = FIELDS
    head_seconds: float = 10.0
    """For a head to come to its end, once it has begun."""
    idle_seconds: float = 75.0
    """For the next request to begin."""
    first_seconds: float = 75.0
    """For the first request to begin."""
    linger_seconds: float = 1.0
    """For a client to read a refusal before its connection is cut over what it still sends."""


class Request:
    """One request."""

    def __init__(self, head: RequestHead, connection: Connection) -> None:
        _check_host(head)
        framing = request_framing(head)
        self.head = head
        self.connection = connection
        self._body = None if framing.kind is FramingKind.NONE else BodyParser(framing)
        self._waits = self._body is not None and _waits(head)
        path, _, query = _target(head).partition("?")
        self.path: str = path
        self.query: str = query
        """As they were written, percent signs and all."""

    @property
    def target(self) -> str:
        """Path and query."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def method(self) -> str:
        """The method."""
        return self.head.method.decode("ascii")

    @property
    def body_complete(self) -> bool:
        """Whether nothing of the body is still to come."""
        return self._body is None or self._body.done

    @property
    def keep_alive(self) -> bool:
        """Whether the client may ask something else on the same connection."""
        return self.head.minor > 0 and b"close" not in self.head.connection

    def field(self, name: bytes) -> str:
        """The first value of a field, its name in lower case; empty without one."""
        found = self.head.all(name)
        return found[0].decode("utf-8", "surrogateescape") if found else ""

    async def read(self) -> bytes:
        """The next piece of the body, nothing at its end.

        Disconnected if it breaks off; ProtocolError if it is not written as a body is.
        """
        body, connection = self._body, self.connection
        if self._waits:
            self._waits = False
            connection.send(_CONTINUE)
        while body is not None and not body.done:
            raw = await connection.read()
            if not raw:
                raise Disconnected
            piece = body.feed(raw)
            if body.rest:
                connection.unread(body.rest)
            if piece:
                return piece
        return b""

    async def body(self, most: int) -> bytes:
        """The whole body, or just enough of it to see that it is larger than `most`."""
        pieces, size = [], 0
        while size <= most and (piece := await self.read()):
            pieces.append(piece)
            size += len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


async def next_request(
    connection: Connection, limits: RequestLimits, first: bool = False
) -> Request | None:
    """The next request, None if there is no other. ProtocolError if it is none, or too slow."""
    raw = await next_head(connection, limits, first)
    return Request(parse_request_head(raw, limits.fields), connection) if raw else None


async def next_head(connection: Connection, limits: RequestLimits, first: bool = False) -> bytes:
    """The bytes of the next head; none if there is no other request."""
    connection.idle = True
    if not connection.buffer:
        try:
            wait = limits.first_seconds if first else limits.idle_seconds
            with connection.deadline.within(wait):
                if not await connection.fill():
                    return b""
        except TimeoutError:
            return b""
    connection.idle = False
    at = head_length(connection.buffer, limits.head_bytes) or await _rest(connection, limits)
    return connection.take(at)


async def _rest(connection: Connection, limits: RequestLimits) -> int:
    """Wait for the rest of a head; where it ends."""
    at = 0
    try:
        with connection.deadline.within(limits.head_seconds):
            while not at:
                seen = max(len(connection.buffer) - _END, 0)
                if not await connection.fill():
                    raise Disconnected
                at = head_length(connection.buffer, limits.head_bytes, seen)
    except TimeoutError:
        raise ProtocolError(408, LATE) from None
    return at


async def linger(connection: Connection, seconds: float) -> None:
    """Drop what a client still sends, for a while: cut off at once, it might not see its answer."""
    try:
        with connection.deadline.within(seconds):
            while await connection.read():
                pass
    except TimeoutError:
        return


def _check_host(head: RequestHead) -> None:
    hosts = head.all(b"host")
    if len(hosts) > 1:
        raise ProtocolError(400, "too many Host headers")
    if not hosts and head.minor:
        raise ProtocolError(400, "missing required Host header")
    if hosts and not _HOST.fullmatch(hosts[0]):
        raise ProtocolError(400, "malformed Host header")


def _target(head: RequestHead) -> str:
    """Path and query, without whose they are."""
    target = head.target.decode("ascii")
    if target.startswith("/") or target == "*" or head.method == b"CONNECT":
        return target
    if not (found := _ORIGIN.match(target)):
        raise ProtocolError(400, "a target that is no path")
    path = target[found.end() :]
    return path if path.startswith("/") else f"/{path}"


def _waits(head: RequestHead) -> bool:
    expected = head.words(b"expect")
    if expected and expected != [b"100-continue"]:
        raise ProtocolError(417, "")
    return bool(expected)
