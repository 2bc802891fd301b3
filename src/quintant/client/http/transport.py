"""The way to an API server over the network: HTTP/1.1 and TLS.

Sits between a `Config` and everything that speaks `Transport`. A request that failed raises one of
our own errors, with what to try where a person can do something about it. An answer with any
status is an answer; what a 401 leads to is in quintant.client.http.authenticated.

The path of a request is kept short on purpose: it is most of what a controller costs. That is why
no HTTP library is below: `benchmarks/client.py` says what one costs.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from msgspec import Struct

from quintant.client.config import tokens
from quintant.client.config.config import Config
from quintant.client.config.credentials import Credential, CredentialProvider
from quintant.client.config.tls import ssl_context
from quintant.client.http.authenticated import Authenticated
from quintant.client.http.explain import FAILURES, explain_request_error, explain_stream_error
from quintant.client.http.pool import ConnectionPool
from quintant.client.retry import is_repeatable
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.core.clock import Clock, SystemClock, monotonic
from quintant.core.errors import ConfigError, ConnectError, StreamStalled
from quintant.http.client_connection import ClientConnection, ConnectionBroken
from quintant.http.head import ResponseHead

# Of a stream: a piece of so much is worth reading by itself.
LARGE_BYTES = 16 * 1024
# Of a call's time, what reaching the server may take: with more, none is left for the answer.
CONNECT_SHARE = 0.8


class TransportLimits(Struct, frozen=True):
    """How long and how large things may be."""

    connect: float = 10.0
    """Seconds to reach the server: name look-up, TCP, proxy and TLS."""
    answer: float = 60.0
    """Seconds for a whole answer, if the call does not say: the API server gives up after 60."""
    head: float = 60.0
    """Seconds for the head of a stream; an API server sends it before it has anything to say."""
    size: int = 256 * 1024 * 1024
    """Bytes of an answer that is no stream; a page of 500 objects of 500 KiB fits."""


class HttpTransport(Authenticated):
    """Requests and streams to the API server of a `Config`.

    Made anywhere, used and closed on one event loop. `credentials` takes the place of those that
    the configuration describes.
    """

    def __init__(
        self,
        config: Config,
        clock: Clock | None = None,
        *,
        credentials: CredentialProvider | None = None,
        limits: TransportLimits | None = None,
    ) -> None:
        # What is wrong with it should be known at the start.
        self._tls = ssl_context(config.trust) if config.server.startswith("https:") else None
        super().__init__(credentials or tokens.credential_provider(config, clock or SystemClock()))
        self._config = config
        self._limits = limits or TransportLimits()
        self._pool: ConnectionPool | None = None
        # No limit on connections: the workers limit how many requests there are, and a limit here
        # would let requests that hang keep a lease renewal waiting.
        self._connections: set[ClientConnection] = set()
        self._closed = False
        self._first_stream: float | None = None
        """When the first stream was opened: all that are read now and then, are at one time."""

    async def close(self) -> None:
        """Close every connection; what is under way fails."""
        self._closed = True
        for connection in tuple(self._connections):
            connection.close()
        await asyncio.sleep(0)  # sockets close in the loop's next turn

    async def _request(self, call: ApiRequest, credential: Credential, began: float) -> ApiResponse:
        pool = self._fitting(credential, began)
        try:
            head, body = await self._exchange(pool, call, pool.encode(call, credential), began)
        except FAILURES as error:
            raise explain_request_error(error, call, self._config) from None
        return ApiResponse(head.status, body, head.headers)

    async def _exchange(
        self, pool: ConnectionPool, call: ApiRequest, data: bytes, began: float
    ) -> tuple[ResponseHead, bytes]:
        most = self._limits.size
        seconds = self._limits.answer if call.timeout is None else call.timeout
        connection = pool.take(began)
        if connection is not None:
            if call.fence is not None:
                _pass(call.fence, call, connection)
            try:
                answer = await connection.request(call.method, data, most=most, seconds=seconds)
            except ConnectionBroken as error:
                # It may have died of old age before we wrote to it, or after the server had read.
                if error.begun or not is_repeatable(call):
                    raise
            else:
                pool.keep(connection)
                return answer
        connection = await self._dial(pool, seconds * CONNECT_SHARE)
        left = began + seconds - monotonic()
        if call.fence is not None:
            _pass(call.fence, call, connection)
        answer = await connection.request(call.method, data, most=most, seconds=left)
        pool.keep(connection)
        return answer

    @asynccontextmanager
    async def _stream(self, call: ApiRequest, credential: Credential) -> AsyncIterator[ApiStream]:
        connection, head = await self._open(call, credential)
        if self._first_stream is None:
            self._first_stream = monotonic()
        try:
            chunks = _chunks(connection, call, self._first_stream)
            yield ApiStream(head.status, chunks, head.headers)
        finally:
            connection.close()

    async def _open(
        self, call: ApiRequest, credential: Credential
    ) -> tuple[ClientConnection, ResponseHead]:
        pool = self._fitting(credential, monotonic())
        try:
            async with asyncio.timeout(self._limits.head) as limit:
                layered = call.gather > 0
                connection = await self._dial(pool, self._limits.connect, layered=layered)
                return connection, await connection.open(call.method, pool.encode(call, credential))
        except FAILURES as error:
            if isinstance(error, TimeoutError) and limit.expired():
                raise StreamStalled(f"{call}: no head within {self._limits.head:g} s") from None
            raise explain_request_error(error, call, self._config) from None

    async def _dial(
        self, pool: ConnectionPool, seconds: float, *, layered: bool = False
    ) -> ClientConnection:
        within, lost = min(seconds, self._limits.connect), self._connections.discard
        found = await pool.dial(within, lost, layered=layered)
        if self._closed:
            found.close()
            raise _closed()
        if found.usable:
            self._connections.add(found)
        return found

    def _unused(self) -> ssl.SSLContext | None:
        """The TLS set-up of the start, for who comes first; files may be others by then."""
        made, self._tls = self._tls, None
        authority = self._config.trust.authority
        return made if authority is None or authority.path is None else None

    def _fitting(self, credential: Credential, now: float) -> ConnectionPool:
        """The pool for a request that begins now: the present one, or a new one in its place."""
        if self._closed:
            raise _closed()
        pool = self._pool
        if pool is not None and pool.fits(credential.pair, now):
            return pool
        try:
            self._pool = ConnectionPool(self._config, credential.pair, self._unused())
        except ConfigError as error:  # a file that was there at the start is gone
            raise ConnectError(str(error)) from None
        if pool is not None:
            pool.retire()
        return self._pool


def _pass(
    fence: Callable[[ApiRequest], None], call: ApiRequest, connection: ClientConnection
) -> None:
    """Let the fence refuse a call, in the step in which `connection` would have its bytes."""
    try:
        fence(call)
    except BaseException:
        connection.close()
        raise


async def _chunks(
    connection: ClientConnection, call: ApiRequest, since: float
) -> AsyncIterator[bytes]:
    try:
        if call.gather:
            async for piece in _gathered(connection, call.gather, since):
                yield piece
        else:
            while piece := await connection.read():
                yield piece
                piece = b""  # or it is held until the next one comes
    except FAILURES as error:
        raise explain_stream_error(error, call) from None


async def _gathered(
    connection: ClientConnection, seconds: float, first: float
) -> AsyncIterator[bytes]:
    """What a connection brings; while that is busy, it is left unread for so long each time.

    Beats are counted from `first`, so that all busy streams of a process are read by one waking up.
    Once that brought a single line, the next one is not waited for.
    """
    time = asyncio.get_running_loop().time
    since, waited = time(), False
    while piece := await connection.read():
        soon = time() - since < seconds and len(piece) < LARGE_BYTES
        waited = soon and (not waited or piece.count(b"\n") > 1)
        yield piece
        piece = b""
        if waited:
            await connection.gather(seconds - (time() - first) % seconds)
        since = time()


def _closed() -> ConnectError:
    return ConnectError("the transport is closed")
