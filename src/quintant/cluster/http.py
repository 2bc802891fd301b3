"""The HTTP edge: an `ApiServer` on a socket.

A thin layer over aiohttp: it turns a request into a `Call` and an answer into bytes on a
connection, and holds no other knowledge. While it is served, the server has a thread for what takes
long (quintant.cluster.beside). Large answers and watches are written piece by piece, so
that one slow or greedy client stalls nobody else.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from ssl import SSLContext, SSLObject
from typing import Any
from weakref import WeakKeyDictionary

from aiohttp import web

from quintant.cluster.auth import User, certified
from quintant.cluster.impersonation import SEPARATOR
from quintant.cluster.listing import Listing
from quintant.cluster.pairs import read_pairs
from quintant.cluster.problems import REQUEST_LIMIT
from quintant.cluster.server import ApiServer, Flow
from quintant.cluster.watchers import Watcher
from quintant.runtime.address import Address
from quintant.runtime.client.transport import Call, Reply
from quintant.runtime.listen import start

LOOPBACK = "127.0.0.1"
HEADER_LIMIT = 1024 * 1024
"""Bytes of a request's line or of one header: a selector may be long."""
HEADERS_LIMIT = 10_000
"""Headers of a request."""
PIECE = 64 * 1024
"""Bytes written before the loop gets a turn: about what a socket takes at once."""
PACKED_FROM = 128 * 1024
"""Bytes from which an answer is compressed for who can read it so, as by a real server."""
PACKING_LEVEL = 1
"""The fastest: JSON shrinks to a tenth all the same."""
STALL_SECONDS = 30.0
"""How long a client of a watch may leave bytes unread before it is cut; it can resume."""
GREETING_SECONDS = 32.0
"""How long a new connection may take for the head of its first request, as on a real server."""
GOODBYE_SECONDS = 1.0
"""How long open connections get when the server stops."""

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_PACKED = {"content-encoding": "gzip", "vary": "Accept-Encoding"}
_GZIP_BITS = 16 + zlib.MAX_WBITS


@asynccontextmanager
async def serve(
    server: ApiServer, host: str = LOOPBACK, port: int = 0, ssl: SSLContext | None = None
) -> AsyncIterator[str]:
    """Serve over HTTP, or HTTPS with a context, until left; yields the server's URL.

    Port 0 takes any free one. Only loopback is reachable from this machine alone: bind elsewhere
    with TLS and authorisation only. A context that verifies client certificates makes their
    holders users of the server.
    """
    edge = _Edge(server)
    door = _Door(
        edge,
        access_log=None,
        # A body is taken as it is, whatever its headers say, as by a real server.
        auto_decompress=False,
        handler_cancellation=True,
        max_line_size=HEADER_LIMIT,
        max_field_size=HEADER_LIMIT,
        max_headers=HEADERS_LIMIT,
    )
    runner = web.ServerRunner(door, shutdown_timeout=GOODBYE_SECONDS)
    await runner.setup()
    site = web.TCPSite(runner, host or None, port, ssl_context=ssl)
    try:
        await start(site, Address(host, port))
        with server.staffed():
            yield _url(runner, ssl)
    finally:
        server.close()
        await runner.cleanup()


class _Door(web.Server):
    """Lets connections in; one that asks nothing for too long is closed."""

    def __init__(self, edge: _Edge, **options: Any) -> None:
        super().__init__(edge.handle, **options)
        self._edge = edge

    def __call__(self) -> web.RequestHandler:
        handler = super().__call__()
        loop = asyncio.get_running_loop()
        timer = loop.call_later(GREETING_SECONDS, self._edge.dismiss, handler)
        self._edge.waiting[handler] = timer
        return handler


class _Edge:
    """One request after another."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self.waiting: dict[web.RequestHandler, asyncio.TimerHandle] = {}
        """Connections that have not asked anything yet, and what will close them."""
        self._peers: WeakKeyDictionary[SSLObject, User | None] = WeakKeyDictionary()

    def dismiss(self, handler: web.RequestHandler) -> None:
        """Close a connection whose first request did not come."""
        self.waiting.pop(handler, None)
        handler.force_close()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if (timer := self.waiting.pop(request.protocol, None)) is not None:
            timer.cancel()
        answer = await self._server.handle(await _call(request), self._peer(request))
        if isinstance(answer, Listing):
            return await _listed(request, answer, self._server.flow_headers(answer))
        if not isinstance(answer, Reply):
            return await self._flow(request, answer)
        if len(answer.body) <= PIECE:
            return web.Response(status=answer.status, body=answer.body, headers=answer.headers)
        return await _large(request, answer)

    def _peer(self, request: web.BaseRequest) -> User | None:
        """Whom the connection proves: the holder of a certificate that TLS has verified."""
        transport = request.transport
        secure = transport.get_extra_info("ssl_object") if transport is not None else None
        if secure is None:
            return None
        if secure not in self._peers:
            certificate, raw = secure.getpeercert(), secure.getpeercert(True)
            self._peers[secure] = certified(certificate, raw) if certificate and raw else None
        return self._peers[secure]

    async def _flow(self, request: web.BaseRequest, flow: Flow) -> web.StreamResponse:
        response = web.StreamResponse(headers=self._server.flow_headers(flow))
        response.enable_chunked_encoding()
        # Changes queue up for who does not read them; what a program prints waits in its file.
        patience = STALL_SECONDS if isinstance(flow, Watcher) else None
        try:
            await response.prepare(request)
            async with aclosing(flow.chunks()) as chunks:
                async for chunk in chunks:
                    async with asyncio.timeout(patience):
                        await response.write(chunk)
        except (TimeoutError, ConnectionResetError):
            _cut(request)
        finally:
            self._server.leave(flow)
        return response


async def _call(request: web.BaseRequest) -> Call:
    headers: dict[str, str] = {}
    for name, value in request.headers.items():
        key = name.lower()
        between = SEPARATOR if key.startswith("impersonate-") else ","
        headers[key] = f"{headers[key]}{between}{value}" if key in headers else value
    if "expect" in headers:
        await _expected(request, headers["expect"])
    body = await _body(request) if request.can_read_body else None
    query = read_pairs(request.rel_url.raw_query_string)
    return Call(request.method, request.path, query, headers, body)


async def _expected(request: web.BaseRequest, what: str) -> None:
    """Tell a client that waits for it that its body is wanted; 417 if it waits for more."""
    if what.lower() != "100-continue":
        raise web.HTTPExpectationFailed(text="")
    assert request.transport is not None, "a request has a connection while it is read"
    request.transport.write(_CONTINUE)


async def _body(request: web.BaseRequest) -> bytes:
    """The body, or just enough of it for the server to see that it is too large."""
    pieces, size = [], 0
    async for piece in request.content.iter_any():
        pieces.append(piece)
        size += len(piece)
        if size > REQUEST_LIMIT:
            break
    return b"".join(pieces)


async def _listed(
    request: web.BaseRequest, listing: Listing, headers: Mapping[str, str]
) -> web.StreamResponse:
    """Send a list as it is written, packed for who can read it so."""
    packer = _packer() if _unpacks(request) else None
    response = web.StreamResponse(headers={**headers, **(_PACKED if packer else {})})
    response.enable_chunked_encoding()
    await response.prepare(request)
    async with aclosing(listing.chunks()) as chunks:
        async for chunk in chunks:
            if piece := packer.compress(chunk) if packer else chunk:
                await response.write(piece)
    await response.write_eof(packer.flush() if packer else b"")
    return response


async def _large(request: web.BaseRequest, answer: Reply) -> web.StreamResponse:
    packed = len(answer.body) > PACKED_FROM and _unpacks(request)
    headers = {**answer.headers, **_PACKED} if packed else answer.headers
    response = web.StreamResponse(status=answer.status, headers=headers)
    if packed:
        response.enable_chunked_encoding()
    else:
        response.content_length = len(answer.body)
    await response.prepare(request)
    for piece in _squeezed(answer.body) if packed else _pieces(answer.body):
        await response.write(piece)
        await asyncio.sleep(0)
    await response.write_eof()
    return response


def _squeezed(body: bytes) -> Iterator[bytes]:
    """A body as gzip, a piece at a time: that takes no longer than sending it."""
    packer = _packer()
    for piece in _pieces(body):
        yield packer.compress(piece)
    yield packer.flush()


def _packer() -> zlib._Compress:
    return zlib.compressobj(PACKING_LEVEL, wbits=_GZIP_BITS)


def _unpacks(request: web.BaseRequest) -> bool:
    """Whether a client reads gzip."""
    return "gzip" in request.headers.get("accept-encoding", "")


def _pieces(body: bytes) -> Iterator[memoryview]:
    view = memoryview(body)
    for at in range(0, len(view), PIECE):
        yield view[at : at + PIECE]


def _cut(request: web.BaseRequest) -> None:
    """Drop a connection whose client does not read: a clean end could not be written either."""
    if request.transport is not None:
        request.transport.abort()


def _url(runner: web.ServerRunner, ssl: SSLContext | None) -> str:
    host, port, *_ = runner.addresses[0]
    scheme = "http" if ssl is None else "https"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
