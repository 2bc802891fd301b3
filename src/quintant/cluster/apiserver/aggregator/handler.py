"""proxyHandler: a client's request, passed on to the server of its group.

Who asks was authenticated and authorised here, and is named to the other server, which may have
rules of its own. Answers, watches and other protocols go through as they come.
"""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.aggregator.api_service import RemoteApi
from quintant.cluster.apiserver.aggregator.front_proxy import user_fields
from quintant.cluster.apiserver.aggregator.tls import RemoteTransport
from quintant.cluster.apiserver.handlers.pod_streams import PodStream
from quintant.cluster.apiserver.meta.status import StatusError, internal_error
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.offload.pool import Offload
from quintant.cluster.apiserver.proxy.handler import ProxiedResponse, UpgradeAwareHandler
from quintant.cluster.apiserver.proxy.headers import joined
from quintant.cluster.apiserver.proxy.proxied_request import ProxiedRequest
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.apiserver.webhooks.dialer import WebhookUnreachable
from quintant.cluster.apiserver.webhooks.service_resolver import resolve_service
from quintant.http.request import Request

_TEXT = {"content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff"}
_REDIRECTS = range(300, 400)
_REDIRECTED = b"the backend attempted to redirect this request, which is not permitted"
_BAD_GATEWAY = 502


class ServiceUnavailable(StatusError):
    """503, in plain text: the server of a group is not there, or is not believed."""

    def __init__(self) -> None:
        super().__init__(503, "ServiceUnavailable", "service unavailable", {})

    @property
    def headers(self) -> dict[str, str]:
        return _TEXT

    def encode(self) -> bytes:
        return f"{self.message}\n".encode()


class RemoteHandler:
    """Passes requests on to extension servers."""

    def __init__(self, store: RevisionStore, offload: Offload) -> None:
        self._store = store
        self._handler = UpgradeAwareHandler(offload)

    async def answer(
        self,
        api: RemoteApi,
        transport: RemoteTransport,
        call: ApiRequest,
        user: User,
        incoming: Request | None,
    ) -> ApiResponse | ProxiedResponse | PodStream:
        """What comes of a request; StatusError if that is nothing."""
        try:
            address = resolve_service(self._store, api.service)
        except WebhookUnreachable:
            raise ServiceUnavailable from None
        try:
            more = user_fields(user)
        except ValueError as error:
            raise internal_error(str(error)) from None
        dial = partial(transport.dial, address)
        proxied = ProxiedRequest(call, incoming, call.path, str(address), dial, more=more)
        if proxied.upgrades:
            # Which other fields are for one hop alone is not the client's to say.
            proxied = replace(proxied, more=(*more, ("connection", "Upgrade")))
        answer = await self._handler.serve(proxied)
        if isinstance(answer, ProxiedResponse) and _redirects(answer):
            answer.release()
            await answer.pieces.aclose()
            return ApiResponse(_BAD_GATEWAY, _REDIRECTED, _TEXT)
        return answer


def _redirects(answer: ProxiedResponse) -> bool:
    """Whether a client would be sent elsewhere, with what proves who it is."""
    return answer.status in _REDIRECTS and bool(joined(answer.fields).get("location"))
