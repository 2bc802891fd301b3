"""The way to an API server over the network: HTTP/1.1 and TLS, on aiohttp.

Sits between a `Config` and everything that speaks `Transport`. A request that failed raises one of
our own errors, with what to try where a person can do something about it. An answer with any
status is an answer; what a 401 leads to is in quintant.runtime.client.authenticated.

The path of a request is kept short on purpose: it is most of what a controller costs.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import aiohttp
from yarl import URL

from quintant.runtime.client import auth
from quintant.runtime.client.authenticated import Authenticated
from quintant.runtime.client.config import Config
from quintant.runtime.client.failure import explained, in_stream, stale
from quintant.runtime.client.line import Line
from quintant.runtime.client.proof import Credentials, Proof
from quintant.runtime.client.retry import repeatable
from quintant.runtime.client.transport import Call, Reply, Stream
from quintant.runtime.client.trust import context
from quintant.runtime.clock import Clock, SystemClock
from quintant.runtime.errors import ConfigError, ConnectError, StreamStalled, TransportError

# aiohttp warns about bytes larger than this, since it writes them in one piece.
LARGE_BYTES = 1024 * 1024

# Of a call's time, what reaching the server may take: with more, none is left for the answer.
CONNECT_SHARE = 0.8

_BROKEN: Final = (aiohttp.ClientError, TimeoutError, OSError)


@dataclass(frozen=True, slots=True)
class Limits:
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
        credentials: Credentials | None = None,
        limits: Limits | None = None,
    ) -> None:
        if config.server.startswith("https:"):
            context(config.trust)  # what is wrong with it should be known at the start
        super().__init__(credentials or auth.credentials(config, clock or SystemClock()))
        self._config = config
        self._limits = limits or Limits()
        self._pool: Line | None = None
        self._streams: Line | None = None
        self._retired: list[Line] = []
        self._closed = False

    async def close(self) -> None:
        """Close every connection; what is under way fails."""
        self._closed = True
        lines = [line for line in (self._pool, self._streams, *self._retired) if line]
        self._pool, self._streams, self._retired = None, None, []
        for line in lines:
            await line.close()

    async def _request(self, call: Call, proof: Proof) -> Reply:
        line = self._pool = self._fitting(self._pool, proof, pooled=True)
        line.users += 1
        try:
            total = self._limits.answer if call.timeout is None else call.timeout
            timeout = _timeout(total, self._limits.connect)
            response = await self._send(line, call, proof, timeout)
            body = await _whole(response, call, self._limits.size)
            return Reply(response.status, body, _headers(response))
        except _BROKEN as error:
            raise explained(error, call, self._config) from None
        finally:
            await self._leave(line)

    @asynccontextmanager
    async def _stream(self, call: Call, proof: Proof) -> AsyncIterator[Stream]:
        line, response = await self._open(call, proof)
        try:
            yield Stream(response.status, _chunks(response, call), _headers(response))
        finally:
            response.close()
            await self._leave(line)

    async def _open(self, call: Call, proof: Proof) -> tuple[Line, aiohttp.ClientResponse]:
        line = self._streams = self._fitting(self._streams, proof, pooled=False)
        line.users += 1
        try:
            async with asyncio.timeout(self._limits.head):
                timeout = _timeout(None, self._limits.connect)
                return line, await self._send(line, call, proof, timeout)
        except BaseException as error:
            await self._leave(line)
            if isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ClientError):
                raise StreamStalled(f"{call}: no head within {self._limits.head:g} s") from None
            if isinstance(error, _BROKEN):
                raise explained(error, call, self._config) from None
            raise

    async def _send(
        self, line: Line, call: Call, proof: Proof, timeout: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        try:
            return await self._attempt(line, call, proof, timeout)
        except (aiohttp.ClientConnectionError, OSError) as error:
            if not (stale(error, call.method) and repeatable(call)):
                raise
            return await self._attempt(line, call, proof, timeout)

    async def _attempt(
        self, line: Line, call: Call, proof: Proof, timeout: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        body = call.body
        return await line.session.request(
            call.method,
            URL(self._config.server + call.target, encoded=True),
            headers={**proof.headers, **call.headers},
            data=io.BytesIO(body) if body and len(body) > LARGE_BYTES else body,
            timeout=timeout,
            server_hostname=self._config.trust.server_name or None,
            allow_redirects=False,  # nobody else is to see our credentials
        )

    def _fitting(self, line: Line | None, proof: Proof, *, pooled: bool) -> Line:
        """The line for a request that begins now: this one, or a new one in its place."""
        if line is not None and line.fits(proof.pair):
            return line
        if self._closed:
            raise ConnectError("the transport is closed")
        try:
            fresh = Line(self._config, proof.pair, pooled=pooled)
        except ConfigError as error:  # a file that was there at the start is gone
            raise ConnectError(str(error)) from None
        if line is not None:
            self._retired.append(line)
        return fresh

    async def _leave(self, line: Line) -> None:
        line.users -= 1
        if not self._retired:
            return
        done = [retired for retired in self._retired if not retired.users]
        self._retired = [retired for retired in self._retired if retired.users]
        for retired in done:
            await retired.close()


async def _whole(response: aiohttp.ClientResponse, call: Call, most: int) -> bytes:
    length = response.content_length
    if length is not None and length <= most:
        return await response.read()
    try:
        return await _bounded(response, call, most)
    finally:
        response.close()  # does nothing to a connection that has gone back to the pool


async def _bounded(response: aiohttp.ClientResponse, call: Call, most: int) -> bytes:
    pieces: list[bytes] = []
    size = response.content_length or 0
    while size <= most:
        piece = await response.content.readany()
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        size += len(piece)
    raise TransportError(f"{call}: the answer is larger than {most} bytes")


async def _chunks(response: aiohttp.ClientResponse, call: Call) -> AsyncIterator[bytes]:
    try:
        while chunk := await response.content.readany():
            yield chunk
    except _BROKEN as error:
        raise in_stream(error, call) from None


def _headers(response: aiohttp.ClientResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


@lru_cache(maxsize=64)
def _timeout(total: float | None, connect: float) -> aiohttp.ClientTimeout:
    share = connect if total is None else min(connect, total * CONNECT_SHARE)
    return aiohttp.ClientTimeout(total=total, sock_connect=share)
