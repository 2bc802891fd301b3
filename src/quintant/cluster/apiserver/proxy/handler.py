"""UpgradeAwareHandler: one request passed on, and what becomes of its client's connection.

Either a response that is passed on as it comes, or, if both sides want it, another protocol. How
many requests are on their way at once is limited.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from quintant.cluster.apiserver.handlers.pod_streams import PodStream
from quintant.cluster.apiserver.meta.status import (
    StatusError,
    internal_error,
    service_unavailable,
    too_many_requests,
    unknown_error,
)
from quintant.cluster.apiserver.offload.pool import Offload
from quintant.cluster.apiserver.proxy import headers
from quintant.cluster.apiserver.proxy.exchange import SWITCHING, Backing, NoProxiedResponse
from quintant.cluster.apiserver.proxy.html import rewrite_html
from quintant.cluster.apiserver.proxy.proxied_request import DialFailed, ProxiedRequest
from quintant.cluster.apiserver.proxy.rewrite import LinkRewriter
from quintant.cluster.apiserver.proxy.upgrade import join
from quintant.http.connection import Connection, Disconnected
from quintant.http.head import ResponseHead

PROXIED = 200
"""Requests on their way at once: each has an open file, or two."""
PAGE_BYTES = 1024 * 1024
"""Of a page whose links are rewritten; larger ones are passed on as they are."""
WHOLE_BYTES, WHOLE_SECONDS = 64 * 1024 * 1024, 60.0
"""Of a response that a program of this process reads whole: it may be large, and is not endless."""
_HTML = "text/html"
_WBITS = {"gzip": 16 + zlib.MAX_WBITS, "deflate": -zlib.MAX_WBITS}
"""How zlib is told of each encoding."""


class ProxiedResponse(Struct, frozen=True):
    """A response that is passed on as it comes."""

    status: int
    fields: Sequence[tuple[str, str]]
    pieces: AsyncGenerator[bytes, None]
    release: Callable[[], None]
    """To be called when it is over, or never began."""
    size: int | None = None

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body."""
        return self.pieces

    async def whole(self) -> bytes:
        """The body for a program of this process; 503 if that has no end, or none in time."""
        body = bytearray()
        try:
            async with asyncio.timeout(WHOLE_SECONDS), aclosing(self.pieces) as pieces:
                async for piece in pieces:
                    body += piece
                    if len(body) > WHOLE_BYTES:
                        raise _unreached(f"the response is larger than {WHOLE_BYTES} bytes")
        except Disconnected:
            raise _unreached("unexpected EOF") from None
        except TimeoutError:
            raise _unreached("context deadline exceeded") from None
        return bytes(body)


class UpgradeAwareHandler:
    """Passes requests on."""

    def __init__(self, offload: Offload) -> None:
        self._offload = offload
        self._open = 0

    async def serve(self, proxied: ProxiedRequest) -> ProxiedResponse | PodStream:
        """What comes of a request; StatusError if that is nothing."""
        if self._open >= PROXIED:
            raise too_many_requests(
                f"{PROXIED} requests are being proxied, and there may be no more: try again later"
            )
        self._open += 1
        released = False

        def release() -> None:
            nonlocal released
            self._open -= not released
            released = True

        answer = None
        try:
            passing = self._upgrade if proxied.upgrades else self._pass
            answer = await passing(proxied, release)
        finally:
            if answer is None:
                release()
        return answer

    async def _pass(self, proxied: ProxiedRequest, release: Callable[[], None]) -> ProxiedResponse:
        try:
            reader, writer = await proxied.dial()
        except DialFailed as error:
            raise _unreached(str(error)) from None
        backing, answer = Backing(reader, writer, proxied.call.method), None
        try:
            backing.send(proxied.head(), proxied.body(), chunked=proxied.chunked)
            answer = self._response(await backing.head(), backing, release)
            if proxied.links is not None:
                answer = await self._linked(proxied, proxied.links, answer)
        except NoProxiedResponse as error:
            answer = None
            raise _unreached(str(error)) from None
        except BaseException:
            answer = None
            raise
        finally:
            if answer is None:
                await backing.abandon()
        return answer

    async def _upgrade(
        self, proxied: ProxiedRequest, release: Callable[[], None]
    ) -> ProxiedResponse | PodStream:
        try:
            reader, writer = await proxied.dial()
        except DialFailed as error:
            raise unknown_error(f"error dialing backend: {error}") from None
        backing, switched = Backing(reader, writer, proxied.call.method), False
        try:
            backing.send(proxied.head(), proxied.body(), chunked=proxied.chunked)
            head, first = await backing.switched()
            if head.status != SWITCHING and head.status < 400:
                raise unknown_error(f"invalid upgrade response: status code {head.status}")
            switched = True
        except NoProxiedResponse as error:
            raise unknown_error(str(error)) from None
        finally:
            if not switched:
                await backing.abandon()
        if head.status != SWITCHING:
            return self._response(head, backing, release)
        fields = headers.joined(headers.response_fields(head, upgrade=True))

        async def serve(connection: Connection) -> None:
            await join(connection, backing, first)

        def over() -> None:
            backing.close()
            release()

        return PodStream(fields, serve, over)

    def _response(
        self, head: ResponseHead, backing: Backing, release: Callable[[], None]
    ) -> ProxiedResponse:
        def over() -> None:
            backing.close()
            release()

        fields = headers.response_fields(head)
        lengths = head.all(b"content-length")
        size = int(lengths[0]) if lengths and lengths[0].isdigit() else None
        return ProxiedResponse(head.status, fields, backing.pieces(), over, size)

    async def _linked(
        self, proxied: ProxiedRequest, links: LinkRewriter, answer: ProxiedResponse
    ) -> ProxiedResponse:
        """The response, with links that lead through the proxy."""
        fields = headers.joined(answer.fields)
        if location := fields.get("location"):
            try:
                rewritten = links.rewrite(location)
            except ValueError as error:
                raise internal_error(f"error trying to parse Location header: {error}") from None
            others = [each for each in answer.fields if each[0] != "location"]
            return replace(answer, fields=[*others, ("location", rewritten)])
        media = fields.get("content-type", "").partition(";")[0].strip()
        if media != _HTML or proxied.call.method == "HEAD":
            return answer
        encoding = fields.get("content-encoding", "")
        if encoding and encoding not in _WBITS:
            return answer
        try:
            page, rest = await _first_bytes(answer.pieces)
        except Disconnected:
            raise unknown_error("unexpected EOF") from None
        if rest:
            return replace(answer, pieces=_chained(page, answer.pieces))
        rewriting = partial(_rewritten, page, encoding, links)
        page = await self._offload.run(rewriting, len(page))
        return replace(answer, pieces=_chained(page, answer.pieces), size=len(page))


def _unreached(why: str) -> StatusError:
    return service_unavailable(f"error trying to reach service: {why}")


def _rewritten(page: bytes, encoding: str, links: LinkRewriter) -> bytes:
    """A page with its links rewritten; as it is, if it cannot be read."""
    if not encoding:
        return rewrite_html(page, links.rewrite)
    reader = zlib.decompressobj(_WBITS[encoding])
    try:
        plain = reader.decompress(page, PAGE_BYTES)
    except zlib.error:
        return page
    if not reader.eof or reader.unconsumed_tail or reader.unused_data:
        return page  # too large, cut, or of several members
    writer = zlib.compressobj(wbits=_WBITS[encoding])
    return writer.compress(rewrite_html(plain, links.rewrite)) + writer.flush()


async def _first_bytes(pieces: AsyncGenerator[bytes, None]) -> tuple[bytes, bool]:
    """What comes, and whether there is more than is worked on at once."""
    page = bytearray()
    async for piece in pieces:
        page += piece
        if len(page) > PAGE_BYTES:
            return bytes(page), True
    return bytes(page), False


async def _chained(
    first: bytes, pieces: AsyncGenerator[bytes, None]
) -> AsyncGenerator[bytes, None]:
    async with aclosing(pieces):
        yield first
        async for piece in pieces:
            yield piece
