"""httputil.ProxyRequest: a request as it came, and what is sent instead of it.

What the next connection says for itself (framing, host) is written anew; a body goes out as it
comes, so that its length may be unknown.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from urllib.parse import quote, urlencode

from msgspec import Struct

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.golang.query import split_values
from quintant.cluster.apiserver.proxy import headers
from quintant.cluster.apiserver.proxy.location import PATH_SAFE
from quintant.cluster.apiserver.proxy.rewrite import LinkRewriter
from quintant.http.encode_request import BODIED, header_line
from quintant.http.request import Request


class DialFailed(Exception):
    """There is no connection; the text says why, as Go does."""


Dial = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
"""Connects with whom a request is for; DialFailed if that is impossible."""


class ProxiedRequest(Struct, frozen=True):
    """A request, and what is to be sent instead of it."""

    call: ApiRequest
    incoming: Request | None
    """As it came over a connection; None for one that was made in this process."""
    path: str
    """At the other end, not escaped."""
    host: str
    """What the other end is called."""
    dial: Dial
    links: LinkRewriter | None = None
    """What rewrites links of the response, if they are."""
    more: Sequence[tuple[str, str]] = ()
    """Fields that are added; of one name there may be several."""

    @property
    def target(self) -> str:
        """Path and query, as they are written in a request line."""
        query = self.incoming.query if self.incoming is not None else _encoded(self.call)
        path = quote(self.path or "/", safe=PATH_SAFE)
        return f"{path}?{query}" if query else path

    @property
    def upgrades(self) -> bool:
        """Whether the client wants to go on with another protocol."""
        return "upgrade" in self.call.headers.get("connection", "").lower()

    def head(self) -> bytes:
        """What is sent to the other end, before the body."""
        client = self.incoming.connection.peer_host if self.incoming is not None else ""
        lines = headers.request_lines(self.call.headers, client, self.more, upgrade=self.upgrades)
        last = "" if self.upgrades else header_line("connection", "close")
        framing = "".join(header_line(*each) for each in self._framing())
        host = header_line("host", self.host)
        return (
            f"{self.call.method} {self.target} HTTP/1.1\r\n{host}{lines}{framing}{last}\r\n".encode(
                "utf-8", "surrogateescape"
            )
        )

    @property
    def chunked(self) -> bool:
        """Whether nobody knows how long the body will be."""
        return self.incoming is not None and "transfer-encoding" in self.call.headers

    def body(self) -> AsyncIterator[bytes] | None:
        """The body as it comes, if there is one."""
        if self.call.body:
            return _once(self.call.body)
        if self.incoming is None or self.incoming.body_complete:
            return None
        return _pieces(self.incoming)

    def _framing(self) -> list[tuple[str, str]]:
        if self.chunked:
            return [("transfer-encoding", "chunked")]
        length = str(len(self.call.body)) if self.call.body else ""
        if self.incoming is not None:
            # It may be there twice, if both say the same.
            length = self.call.headers.get("content-length", "").partition(",")[0]
        if length or self.call.method in BODIED:
            return [("content-length", length or "0")]
        return []


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def _pieces(incoming: Request) -> AsyncIterator[bytes]:
    while piece := await incoming.read():
        yield piece


def _encoded(call: ApiRequest) -> str:
    return urlencode(
        [(name, value) for name, joined in call.query.items() for value in split_values(joined)]
    )
