"""callAttrMutatingHook, callHook: one call of a webhook within its timeout."""

from __future__ import annotations

import asyncio
from functools import partial

from quintant.client.transport import ApiResponse
from quintant.cluster.apiserver.meta.status import StatusError, internal_error
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.apiserver.webhooks.admission_review import encode_review
from quintant.cluster.apiserver.webhooks.configuration import ConfiguredWebhook, WebhookTarget
from quintant.cluster.apiserver.webhooks.dialer import (
    WebhookDialer,
    WebhookRequest,
    WebhookUnreachable,
)
from quintant.cluster.apiserver.webhooks.https_dialer import HttpsDialer
from quintant.cluster.apiserver.webhooks.response import (
    InvalidReviewResponse,
    ReviewResponse,
    read_review_response,
)
from quintant.cluster.apiserver.webhooks.service_resolver import resolve_service

_NO_REVIEW = "webhook does not accept known AdmissionReview versions (v1, v1beta1)"


class WebhookCallError(Exception):
    """A webhook could not be asked, or did not answer; its failure policy says what that means."""

    def __init__(self, hook: ConfiguredWebhook, why: str) -> None:
        super().__init__(f'failed calling webhook "{hook.name}": {why}')

    @property
    def status_error(self) -> StatusError:
        return internal_error(str(self))


class WebhookClient:
    """Asks webhooks, wherever they are; over HTTPS without a dialer of another sort."""

    def __init__(self, store: RevisionStore, dialer: WebhookDialer | None = None) -> None:
        self._store = store
        self._own = HttpsDialer()
        self._dialer = dialer or self._own

    def close(self) -> None:
        """Leave no connection behind; a dialer of another sort is closed by who made it."""
        self._own.close()

    async def call(
        self,
        hook: ConfiguredWebhook,
        request: JsonObject,
        obj: JsonObject | None,
        old: JsonObject | None,
    ) -> ReviewResponse:
        """A webhook's word; WebhookCallError if it has none."""
        if not hook.review:
            raise WebhookCallError(hook, _NO_REVIEW)
        body = encode_review(hook.review, request, obj, old)
        try:
            reply = await self.post(hook.client, body, hook.timeout)
            return read_review_response(reply, hook.review, request["uid"], mutating=hook.mutating)
        except WebhookUnreachable as error:
            raise WebhookCallError(hook, f"failed to call webhook: {error}") from None
        except InvalidReviewResponse as error:
            raise WebhookCallError(hook, str(error)) from None

    async def post(self, client: WebhookTarget, body: bytes, seconds: int) -> ApiResponse:
        """Post a document and wait so long for a reply; WebhookUnreachable says why none came."""
        url = f"{client.url}?timeout={seconds}s"
        service = client.service
        webhook_request = WebhookRequest(
            url,
            body,
            client.bundle,
            None if service is None else partial(resolve_service, self._store, service),
        )
        try:
            async with asyncio.timeout(seconds):
                return await self._dialer.post(webhook_request)
        except TimeoutError:
            raise WebhookUnreachable(f'Post "{url}": context deadline exceeded') from None
