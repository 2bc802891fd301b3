"""The TLS server in front of `ReviewHandler`: HTTP, certificates, and nothing that decides.

It opens before caches do, since a converted kind cannot be listed without it, and closes after
them; reviews under way may finish. A body is read no further than its path allows.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from quintant.client.transport import ApiResponse
from quintant.core.address import BindAddress
from quintant.core.errors import QuintantError
from quintant.http.connection import Disconnected
from quintant.http.head import ProtocolError
from quintant.http.request import Request
from quintant.http.response import Response
from quintant.runtime.cache.client import Client
from quintant.runtime.observe.listen import listen
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.webhook.certs import (
    CertificateSource,
    CertificateWatcher,
    MountedCertificates,
)
from quintant.runtime.webhook.declaration import WebhookDeclarations
from quintant.runtime.webhook.publish import Restore
from quintant.runtime.webhook.review import ReviewHandler, status_response

MOUNTED = Path("/tmp/k8s-webhook-server/serving-certs")
"""Where kubebuilder's manifests mount the Secret with tls.crt and tls.key."""

# A body must be here, and a review must end when the server stops, within the longest time that an
# API server waits for an answer.
READ_SECONDS = 30.0
SHUTDOWN_SECONDS = 30.0
# An API server that does not answer must not keep the process from ending.
RESTORE_SECONDS = 5.0

log: Final = get_logger()


class WebhookServer:
    """Serves declared webhooks. `reviews` answers without it, `source` gives its certificate.

    Before it stops to listen, `restore` has API servers ask where they did before.
    """

    def __init__(
        self,
        webhooks: WebhookDeclarations,
        *,
        client: Client,
        metrics: Metrics,
        source: CertificateSource | None = None,
        restore: Restore | None = None,
    ) -> None:
        self.reviews: ReviewHandler = ReviewHandler(webhooks, client=client, metrics=metrics)
        self.certificates: CertificateWatcher = CertificateWatcher(
            source or MountedCertificates.mounted(MOUNTED), metrics
        )
        self._restore = restore

    @asynccontextmanager
    async def serve(self, address: str) -> AsyncIterator[BindAddress]:
        """Listen at `host:port` while the context lasts, and renew the certificate meanwhile.

        Yields the address with the port that was chosen. ConfigError without a certificate.
        """
        at, context = BindAddress.parse(address), self.certificates.context
        await self.certificates.load()
        async with (
            listen(self._handle, at, context, goodbye=SHUTDOWN_SECONDS) as bound,
            asyncio.TaskGroup() as group,
        ):
            renewal = group.create_task(self.certificates.run())
            try:
                yield bound
            finally:
                renewal.cancel()
                # What it publishes must not come after what is given back.
                await asyncio.wait([renewal])
                await self._give_back()

    async def _give_back(self) -> None:
        if self._restore is None or self.certificates.trouble():
            return
        try:
            async with asyncio.timeout(RESTORE_SECONDS):
                await self._restore()
        except (OSError, QuintantError) as error:
            log.error("failed to give webhooks back", why=str(error) or type(error).__name__)

    async def _handle(self, request: Request) -> Response:
        reply = await self._reply(request)
        return Response(reply.status, reply.headers, reply.body)

    async def _reply(self, request: Request) -> ApiResponse:
        if request.method != "POST":
            return status_response(405, "MethodNotAllowed", "a review is sent with POST")
        try:
            async with asyncio.timeout(READ_SECONDS):
                body = await request.body(self.reviews.limit(request.path))
        except TimeoutError:
            return status_response(408, "Timeout", f"no whole body came within {READ_SECONDS:g} s")
        except (Disconnected, ProtocolError):
            return status_response(
                400, "BadRequest", "the body broke off, or is not encoded as it says"
            )
        return await self.reviews.answer(request.target, body, request.field(b"content-type"))
