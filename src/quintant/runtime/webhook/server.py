"""The listener in front of `Reviews`: HTTPS on aiohttp, and nothing that decides.

It starts before caches do, since listing a converted kind needs it, and stops after them. Bodies
are read no further than their path allows. Stopping lets the reviews under way finish.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import StreamReader, web

from quintant.runtime.client.transport import Reply
from quintant.runtime.webhook.review import Reviews, refusal

PORT = 9443

# An API server drops an idle connection after 90 s. Outlasting it means that we never close one
# just as it sends a review.
KEEPALIVE_SECONDS = 120.0
# How long a body may take to arrive: as long as an API server ever waits for the answer.
READ_SECONDS = 30.0
# Reviews under way when the server stops: the same.
SHUTDOWN_SECONDS = 30.0


@asynccontextmanager
async def listening(
    reviews: Reviews, context: ssl.SSLContext, *, host: str | None = None, port: int = PORT
) -> AsyncIterator[int]:
    """Answer reviews while the context lasts; yields the port, which matters where 0 was asked.

    `host` None means every address. Run `Certificates.keep` beside it.
    """
    server = web.Server(_handler(reviews), access_log=None, keepalive_timeout=KEEPALIVE_SECONDS)
    runner = web.ServerRunner(server, shutdown_timeout=SHUTDOWN_SECONDS)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port, ssl_context=context).start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


def _handler(reviews: Reviews) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        reply = await _reply(reviews, request)
        return web.Response(status=reply.status, body=reply.body, headers=reply.headers)

    return handle


async def _reply(reviews: Reviews, request: web.BaseRequest) -> Reply:
    if request.method != "POST":
        return refusal(405, "MethodNotAllowed", "a review is sent with POST")
    try:
        async with asyncio.timeout(READ_SECONDS):
            body = await _read(request.content, reviews.limit(request.path))
    except TimeoutError:
        return refusal(408, "Timeout", f"no whole body came within {READ_SECONDS:g} s")
    return await reviews.answer(request.path_qs, body, request.headers.get("content-type", ""))


async def _read(content: StreamReader, limit: int) -> bytes:
    """The body, or so much of it that it is seen to be too large."""
    body = bytearray()
    async for chunk in content.iter_any():
        body += chunk
        if len(body) > limit:
            break
    return bytes(body)
