"""One request after another: from a socket to a handler, and its response back.

A handler gets a `Request` and gives a `Response`, a `StreamingResponse` that continues, or an
`UpgradeResponse`, after which the connection is another protocol's. It is cancelled when its client
leaves. A request that cannot be read ends its connection: it is not known where the next one would
begin. Without TLS, what comes in over loopback must not be for a foreign
Host (`quintant.http.hosts`); with TLS the certificate sees to that. What a page of another site
asks is refused by every server, unless it says that it only shows.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from functools import lru_cache, partial
from socket import socket
from ssl import SSLContext
from typing import Any

from quintant.http.body import LAST_CHUNK, encode_chunk
from quintant.http.connection import Connection, Disconnected
from quintant.http.connections import Connections
from quintant.http.head import ProtocolError, RequestHead
from quintant.http.hosts import FORBIDDEN, foreign, from_another_site
from quintant.http.request import Request, RequestLimits, linger, next_request
from quintant.http.response import Response, StreamingResponse, UpgradeResponse, error_response

BACKLOG = 1024
"""Connections that may wait to be accepted: a whole fleet comes back at once."""
GOODBYE_SECONDS = 1.0
"""For responses under way when a server stops."""

_Answer = Response | StreamingResponse | UpgradeResponse
Handler = Callable[[Request], Awaitable[_Answer]]
_log = logging.getLogger(__name__)


@asynccontextmanager
async def serving(
    handler: Handler,
    host: str,
    port: int,
    ssl: SSLContext | None = None,
    *,
    limits: RequestLimits = RequestLimits(),
    goodbye: float = GOODBYE_SECONDS,
    shows_only: bool = False,
) -> AsyncIterator[tuple[str, int]]:
    """Serve while the context lasts; yields where. OSError if that cannot be had.

    No host is every address of this machine, port 0 any free port. Responses under way when the
    context is left have `goodbye` seconds to end. A server that changes nothing, whatever it is
    asked, may say so (`shows_only`): then pages of other sites may link to it.
    """
    server = Server(handler, limits, secured=ssl is not None, shows_only=shows_only)
    listening = await asyncio.get_running_loop().create_server(
        partial(Connection, server.arrive),
        host or None,
        port,
        backlog=BACKLOG,
        **_secured(ssl, limits),
    )
    try:
        yield listening.sockets[0].getsockname()[:2]
    finally:
        listening.close()
        await server.stop(goodbye)


@asynccontextmanager
async def serving_on(
    handler: Handler, listening: socket, *, shows_only: bool = False
) -> AsyncIterator[None]:
    """Serve at a socket that listens already, as one that a parent handed down does."""
    server = Server(handler, RequestLimits(), shows_only=shows_only)
    loop = asyncio.get_running_loop()
    opened = await loop.create_server(
        partial(Connection, server.arrive), sock=listening, backlog=BACKLOG
    )
    try:
        yield
    finally:
        opened.close()
        await server.stop(GOODBYE_SECONDS)


class Server:
    """Serves connections, wherever they come from."""

    def __init__(
        self,
        handler: Handler,
        limits: RequestLimits,
        *,
        secured: bool = False,
        shows_only: bool = False,
    ) -> None:
        self._handler, self._limits, self._secured = handler, limits, secured
        self._shows_only = shows_only
        self._connections = Connections(_failed)
        self._stopping = False

    def arrive(self, connection: Connection) -> asyncio.Task[None]:
        """Serve a connection in a task of its own."""
        return self._connections.serve(connection, self._serve(connection))

    async def stop(self, goodbye: float) -> None:
        """End every connection, and wait so many seconds for responses under way."""
        self._stopping = True
        self._connections.close_idle()
        await self._connections.wait_closed(goodbye)
        await self._connections.close()

    async def _serve(self, connection: Connection) -> None:
        try:
            first = True
            while await self._one(connection, first):
                first = False
                if connection.buffer:
                    # Who sends many requests at once is not served all at once.
                    await asyncio.sleep(0)
        except ProtocolError as refused:
            await self._refuse(connection, refused)
        except Disconnected:
            return

    async def _one(self, connection: Connection, first: bool) -> bool:
        """Answer one request; whether there may be another."""
        request = await next_request(connection, self._limits, first)
        if request is None:
            return False
        if not self._secured and connection.over_loopback:
            _check_host(request.head)
        if sites := request.head.all(b"sec-fetch-site"):
            _check_site(sites, request.method, self._shows_only)
        response = await self._respond(request)
        if isinstance(response, StreamingResponse):
            return await self._stream(request, response)
        if isinstance(response, UpgradeResponse):
            await _upgrade(connection, response)
            return False
        close = self._last(request)
        await connection.write(response.encode(close, request.method == "HEAD"))
        if not request.body_complete:
            await linger(connection, self._limits.linger_seconds)
        return not close

    async def _respond(self, request: Request) -> _Answer:
        try:
            return await self._handler(request)
        except (Disconnected, ProtocolError):
            raise
        except Exception:
            # Whatever is wrong with one handler, the server has other clients.
            _log.exception("no answer to %s %s", request.method, request.path)
            return error_response(500, "")

    async def _stream(self, request: Request, response: StreamingResponse) -> bool:
        """Send a response that continues; whether there may be another request."""
        connection = request.connection
        bodyless = response.bodyless or request.method == "HEAD"
        unsized = response.size is None and not bodyless
        chunked = unsized and request.head.minor > 0
        close = self._last(request) or (unsized and not chunked)
        try:
            connection.send(response.encode_head(chunked, close))
            if not bodyless:
                await _send_body(connection, response, chunked)
        finally:
            response.on_close()
        return not close

    def _last(self, request: Request) -> bool:
        """Whether its connection ends with the response to a request."""
        return self._stopping or not request.body_complete or not request.keep_alive

    async def _refuse(self, connection: Connection, refused: ProtocolError) -> None:
        try:
            await connection.write(error_response(refused.status, str(refused)).encode(close=True))
            await linger(connection, self._limits.linger_seconds)
        except Disconnected:
            return


def _check_host(head: RequestHead) -> None:
    if why := _foreign(tuple(head.all(b"host")), tuple(head.all(b"origin"))):
        raise ProtocolError(FORBIDDEN, why)


def _check_site(sites: Sequence[bytes], method: str, shows_only: bool) -> None:
    texts = [each.decode("latin-1") for each in sites]
    if why := from_another_site(texts, method, shows_only):
        raise ProtocolError(FORBIDDEN, why)


@lru_cache(maxsize=64)
def _foreign(hosts: tuple[bytes, ...], origins: tuple[bytes, ...]) -> str:
    """Why a request is refused; most callers say the same with every request."""
    return foreign(
        [each.decode("latin-1") for each in hosts], [each.decode("latin-1") for each in origins]
    )


async def _send_body(connection: Connection, response: StreamingResponse, chunked: bool) -> None:
    async with aclosing(response.pieces) as pieces:
        async for piece in pieces:
            if piece:
                connection.send(encode_chunk(piece) if chunked else piece)
                if connection.full:
                    await _wait_for_room(connection, response.write_timeout)
    if chunked:
        connection.send(LAST_CHUNK)


async def _upgrade(connection: Connection, response: UpgradeResponse) -> None:
    """Let another protocol have a connection."""
    try:
        await connection.write(response.encode_head())
        await response.serve(connection)
    except* Disconnected:
        pass
    finally:
        response.on_close()


async def _wait_for_room(connection: Connection, seconds: float) -> None:
    """Wait for a client to read what it was sent; cut it off if it does not."""
    try:
        with connection.deadline.within(seconds):
            await connection.drained()
    except TimeoutError:
        connection.reset()
        raise Disconnected from None


def _failed(error: BaseException) -> None:
    _log.error("a connection failed", exc_info=error)


def _secured(ssl: SSLContext | None, limits: RequestLimits) -> dict[str, Any]:
    """What is said of TLS; nothing may be said of its times without it."""
    if ssl is None:
        return {}
    return {
        "ssl": ssl,
        "ssl_handshake_timeout": limits.head_seconds,
        "ssl_shutdown_timeout": GOODBYE_SECONDS,
    }
