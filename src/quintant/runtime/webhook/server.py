"""The TLS server in front of `Reviews`: aiohttp, certificates, and nothing that decides.

It opens before caches do, since a converted kind cannot be listed without it, and closes after
them; reviews under way may finish. A body is read no further than its path allows.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import StreamReader, web

from quintant.runtime.client.client import Client
from quintant.runtime.client.transport import Reply
from quintant.runtime.metrics import Metrics
from quintant.runtime.webhook.certs import Certificates, Files, Source
from quintant.runtime.webhook.declaration import Webhooks
from quintant.runtime.webhook.review import Reviews, refusal

MOUNTED = Path("/tmp/k8s-webhook-server/serving-certs")
"""Where kubebuilder's manifests mount the Secret with tls.crt and tls.key."""

# An API server drops an idle connection after 90 s. We wait longer, or one day we would close it
# just as it sends a review.
KEEPALIVE_SECONDS = 120.0
# A body must be here, and a review must end when the server stops, within the longest time that an
# API server waits for an answer.
READ_SECONDS = 30.0
SHUTDOWN_SECONDS = 30.0
# What remains of a refused body is read and dropped for so long; a caller that still sends may
# then miss the refusal, but not hold the connection.
LINGER_SECONDS = 1.0


class WebhookServer:
    """Serves declared webhooks. `reviews` answers without it, `source` gives its certificate."""

    def __init__(
        self, webhooks: Webhooks, *, client: Client, metrics: Metrics, source: Source | None = None
    ) -> None:
        self.reviews = Reviews(webhooks, client=client, metrics=metrics)
        self._certificates = Certificates(source or Files.mounted(MOUNTED), metrics)

    @asynccontextmanager
    async def serve(self, address: str) -> AsyncIterator[int]:
        """Listen at `host:port` while the context lasts; yields the port, which may be asked as 0.

        ConfigError when there is no certificate. Run `keep` beside it.
        """
        await self._certificates.load()
        server = web.Server(
            self._handle, access_log=None,
            keepalive_timeout=KEEPALIVE_SECONDS, lingering_time=LINGER_SECONDS,
        )  # fmt: skip
        runner = web.ServerRunner(server, shutdown_timeout=SHUTDOWN_SECONDS)
        await runner.setup()
        try:
            host, _, port = address.rpartition(":")
            tls = self._certificates.context
            await web.TCPSite(runner, host.strip("[]") or None, int(port), ssl_context=tls).start()
            yield int(runner.addresses[0][1])
        finally:
            await runner.cleanup()

    async def keep(self) -> None:
        """Renew the certificate for ever."""
        await self._certificates.keep()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        reply = await self._reply(request)
        return web.Response(status=reply.status, body=reply.body, headers=reply.headers)

    async def _reply(self, request: web.BaseRequest) -> Reply:
        if request.method != "POST":
            return refusal(405, "MethodNotAllowed", "a review is sent with POST")
        try:
            async with asyncio.timeout(READ_SECONDS):
                body = await _read(request.content, self.reviews.limit(request.path))
        except TimeoutError:
            return refusal(408, "Timeout", f"no whole body came within {READ_SECONDS:g} s")
        content_type = request.headers.get("content-type", "")
        return await self.reviews.answer(request.path_qs, body, content_type)


async def _read(content: StreamReader, limit: int) -> bytes:
    """The body, or so much of it that it is seen to be too large."""
    body = bytearray()
    async for chunk in content.iter_any():
        body += chunk
        if len(body) > limit:
            break
    return bytes(body)
