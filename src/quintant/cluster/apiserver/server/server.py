"""GenericAPIServer: the embedded API server: from an HTTP request to its answer.

`ApiServer` is called in process (`InProcessTransport`) or behind HTTP
(quintant.cluster.apiserver.server.https); both see the same bytes. It needs a running event loop
from its first moment: time is the loop's.

    request → authentication → request info → authorization → handler chain → audit

A write is synchronous from reading the live object to telling who depends on it, so nothing is
locked; where webhooks are asked, it begins again if it was overtaken. No answer, refusal or watch
leaves before what it may tell of is safe from a crash.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, aclosing, asynccontextmanager
from ipaddress import IPv4Network
from typing import Final

from msgspec.structs import replace

from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.cluster.apiserver.aggregator.controller import Aggregator
from quintant.cluster.apiserver.aggregator.front_proxy import FrontProxy
from quintant.cluster.apiserver.aggregator.handler import RemoteHandler
from quintant.cluster.apiserver.aggregator.registrar import Registrar
from quintant.cluster.apiserver.authentication.service_accounts import ISSUER
from quintant.cluster.apiserver.discovery.documents import discover
from quintant.cluster.apiserver.discovery.openid import openid_document
from quintant.cluster.apiserver.filters.access import Access
from quintant.cluster.apiserver.golang.depth import make_room
from quintant.cluster.apiserver.handlers.metrics import MetricsApi
from quintant.cluster.apiserver.handlers.pod_logs import LogStream, PodLogs
from quintant.cluster.apiserver.handlers.pod_streams import (
    UPGRADE_REQUIRED,
    PodStream,
    PodStreams,
    log_messages,
)
from quintant.cluster.apiserver.handlers.resource import (
    authorization_attributes,
    kind_of,
    refuse_websocket,
    wants_websocket,
)
from quintant.cluster.apiserver.handlers.subresources import is_connect, is_log_stream
from quintant.cluster.apiserver.handlers.write import PureSteps
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.meta.request_info import RequestInfo, request_info
from quintant.cluster.apiserver.meta.status import (
    REQUEST_LIMIT,
    StatusError,
    bad_request,
    internal_error,
    request_entity_too_large,
)
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.offload.pool import Offload
from quintant.cluster.apiserver.offload.timeouts import in_time, timeout_seconds
from quintant.cluster.apiserver.proxy.handler import ProxiedResponse, UpgradeAwareHandler
from quintant.cluster.apiserver.proxy.nodes import NodeProxy
from quintant.cluster.apiserver.proxy.resolve import BackendResolver
from quintant.cluster.apiserver.proxy.rest import Proxies
from quintant.cluster.apiserver.registry.builtin import builtin_kinds
from quintant.cluster.apiserver.registry.service_ips import NETWORK, with_service_network
from quintant.cluster.apiserver.response.list_stream import ListStream
from quintant.cluster.apiserver.server.chain import HandlerChain, builtin_kind
from quintant.cluster.apiserver.server.path_recorder_mux import PathRecorderMux
from quintant.cluster.apiserver.server.replies import Answer, Flow, Replies, status_code
from quintant.cluster.apiserver.storage.revision_log import NotDurable, RevisionStore, Snapshot
from quintant.cluster.apiserver.watch.hub import BOOKMARK_SECONDS, Watcher, WatchHub
from quintant.cluster.apiserver.webhooks.dialer import WebhookDialer
from quintant.core.clock import Clock, Random, SystemClock
from quintant.core.errors import TransportError
from quintant.extras import CLUSTER, require_extra
from quintant.http.connection import Disconnected
from quintant.http.request import Request
from quintant.keys.sensitive import Sensitive


class ApiServer:
    """A Kubernetes-compatible API server in this process.

    With `rbac`, what a request may do follows from the roles in the store; without it everything
    is allowed to everybody. `bookmarks` is their interval in seconds. It goes on from a `store`.
    `key` (PEM) signs tokens of service accounts for `issuers`; without it they end with the
    server. `dialer` reaches webhooks. `managed`: controllers run beside it, so that pods need
    accounts and volumes are held; `disabled_plugins` says it by name. `services` is their network.
    `front_proxy` proves to extension servers who asks them; without it, none is reached. `steps`
    may remember what came of the same writes in other servers.
    """

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        random: Random | None = None,
        rbac: bool = False,
        bookmarks: float = BOOKMARK_SECONDS,
        store: RevisionStore | None = None,
        key: Sensitive[bytes] | None = None,
        dialer: WebhookDialer | None = None,
        issuers: tuple[str, ...] = (ISSUER,),
        managed: bool = False,
        disabled_plugins: frozenset[str] | None = None,
        services: IPv4Network = NETWORK,
        front_proxy: FrontProxy | None = None,
        steps: PureSteps | None = None,
    ) -> None:
        require_extra(CLUSTER, "the embedded API server")
        make_room()
        clock, self._random = clock or SystemClock(), random or Random()
        self.store: RevisionStore = store or RevisionStore()
        self.catalog: Catalog = Catalog(with_service_network(builtin_kinds(), services))
        self._hub = WatchHub(self.store, bookmarks)
        self._access = Access(self.store, clock, rbac=rbac, key=key, issuers=issuers)
        self.tokens: Final = self._access.tokens
        self.audit: Final = self._access.audit
        self.logs: PodLogs = PodLogs(self.store, clock)
        """Whoever runs pods adds itself to its providers."""
        self.metrics: MetricsApi = MetricsApi(self.store, self.catalog)
        """Whoever runs pods adds itself to its meters; `open` serves the group."""
        self.offload: Offload = Offload()
        """Does beside the loop what takes long."""
        self.replies: Replies = Replies(Random(self._random.getrandbits(64)), self.offload)
        """What gives answers their headers and their form, with chance of its own: what an object
        is called does not depend on how much was read before."""
        self.mux: PathRecorderMux = PathRecorderMux()
        """Whoever has paths beside the API, for administrators, adds them."""
        self._chain = HandlerChain(
            self.store,
            self.catalog,
            self._hub,
            self._access,
            self.offload,
            clock=clock,
            random=self._random,
            dialer=dialer,
            managed=managed,
            disabled_plugins=disabled_plugins,
            steps=steps or PureSteps(),
        )
        self.streams: PodStreams = PodStreams(self.store, self._access, self._chain.admit_connect)
        """Whoever runs pods adds itself to its runtimes."""
        self.proxies: Proxies = Proxies(
            BackendResolver(self.store),
            NodeProxy(self.store, self.metrics, builtin_kind(self.catalog, "", "pods")),
            UpgradeAwareHandler(self.offload),
            self._chain.admit_connect,
            self.streams.runtimes,
        )
        self.aggregator: Aggregator = Aggregator(
            self.store,
            self.catalog,
            Registrar(self.store, self.catalog, self._chain.writes, self._chain.deletes, clock),
            RemoteHandler(self.store, self.offload),
            front_proxy,
        )
        """Passes on what other servers serve; whoever starts the server has it running."""
        self._chain.bootstrap()
        self.aggregator.reload()

    async def request(self, call: ApiRequest) -> ApiResponse:
        """Answer a request; a watch is answered when it ends."""
        answer = await self._handle_unconnected(call)
        if isinstance(answer, ApiResponse):
            return answer
        try:
            if isinstance(answer, ProxiedResponse):
                body = await answer.whole()
            else:
                body = b"".join([chunk async for chunk in answer.chunks()])
            headers = self.replies.flow_headers(answer)
            return ApiResponse(status_code(answer), body, headers)
        except StatusError as error:
            return await self.replies.refusal(call, error)
        finally:
            self.leave(answer)

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        """Answer a request as it goes on; leaving the context ends a watch."""
        answer = await self._handle_unconnected(call)
        if isinstance(answer, ApiResponse):
            yield ApiStream(answer.status, _once(answer.body), answer.headers)
            return
        try:
            async with aclosing(answer.chunks()) as chunks:
                headers = self.replies.flow_headers(answer)
                yield ApiStream(status_code(answer), _unbroken(chunks), headers)
        finally:
            self.leave(answer)

    async def _handle_unconnected(self, call: ApiRequest) -> ApiResponse | Flow:
        """The answer to who has no connection that could become another protocol's."""
        answer = await self.handle(call)
        if not isinstance(answer, PodStream):
            return answer
        self.leave(answer)
        return await self.replies.refusal(call, bad_request(UPGRADE_REQUIRED))

    async def handle(
        self, call: ApiRequest, peer: User | None = None, incoming: Request | None = None
    ) -> Answer:
        """The whole answer, or one that goes on and that `leave` must end.

        `peer` is whom the connection proves, by a client certificate; no header says that.
        `incoming` has a body that has not come yet: it is waited for if the user may send one, and
        no longer than the request may take.
        """
        call = replace(call, headers={key.lower(): call.headers[key] for key in call.headers})
        info = request_info(call)
        user: User | None = None
        try:
            user = self._access.authenticate(call, info, peer)
            answer = await self._answer(call, info, user, incoming)
        except StatusError as error:
            answer = await self.replies.refusal(call, error)
        answer = await self._safe(call, answer)
        self.audit.record(user.name if user else "", info, status_code(answer))
        return answer

    @property
    def watches(self) -> int:
        """How many watches are open."""
        return len(self._hub)

    def leave(self, flow: Flow | PodStream) -> None:
        """End an answer that `handle` opened."""
        if isinstance(flow, Watcher):
            self._hub.remove(flow)
        elif isinstance(flow, PodStream | ProxiedResponse):
            flow.release()

    def staffed(self) -> AbstractContextManager[None]:
        """Have threads for what takes long, for as long as the context lasts.

        Without them, everything is done at once and nobody else is served meanwhile.
        """
        return self.offload.with_threads()

    def close(self) -> None:
        """End every watch, and the connections to webhooks: the server goes away."""
        self._hub.close()
        self._chain.close()

    def compact(self) -> None:
        """Forget all history: a watch from an older revision is answered with 410."""
        self.store.compact()

    def snapshot(self) -> Snapshot:
        """Remember every object, for `restore`."""
        return self.store.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot's objects. Watches end with 410: clients have to list again."""
        self._hub.expire()
        self.store.restore(snapshot)
        self._chain.bootstrap()
        self.aggregator.reload()

    def advance(self, seconds: float) -> None:
        """Have what ends by itself end so much sooner: its clock was advanced."""
        self._chain.advance(seconds)

    async def _answer(
        self, call: ApiRequest, request_info: RequestInfo, user: User, incoming: Request | None
    ) -> Answer:
        if request_info.verb == "watch":
            # It has no end, and so its body would have none.
            remote = self.aggregator.find(call.path) is not None
            return await self._allowed(call, request_info, user, incoming if remote else None)
        if request_info.is_proxied:
            # How long it may take is for the other server to say.
            return await self._allowed(call, request_info, user, incoming)
        if "upgrade" in call.headers and self.aggregator.find(call.path) is not None:
            return await self._allowed(call, request_info, user, incoming)
        limit = timeout_seconds(call.query)
        return await in_time(self._allowed(call, request_info, user, incoming), limit)

    async def _allowed(
        self, call: ApiRequest, request_info: RequestInfo, user: User, incoming: Request | None
    ) -> Answer:
        self._access.authorize(user, authorization_attributes(call, request_info))
        if not request_info.resource:
            self.mux.authorize(user, request_info)
        if request_info.is_proxied:
            return await self._proxied(call, request_info, user, incoming)
        if self.aggregator.remotes and (api := self.aggregator.find(call.path)) is not None:
            return await self.aggregator.answer(api, call, user, incoming)
        most = self.mux.max_request_body_bytes(call.path)
        if incoming is not None and not incoming.body_complete:
            call = replace(call, body=await incoming.body(most))
        size = len(call.body or b"")
        if size > REQUEST_LIMIT and size > most:
            raise request_entity_too_large()
        answer = await self._found(call, request_info, user)
        if isinstance(answer, ListStream):
            return await self.replies.listed(call, answer)
        if isinstance(answer, ApiResponse):
            return await self.replies.complete(call, answer)
        return answer

    async def _proxied(
        self, call: ApiRequest, request_info: RequestInfo, user: User, incoming: Request | None
    ) -> Answer:
        kind = kind_of(self.catalog, request_info)
        answer = await self.proxies.answer(call, request_info, kind, user, incoming)
        if isinstance(answer, ApiResponse):
            return await self.replies.complete(call, answer)
        return answer

    async def _found(self, call: ApiRequest, request_info: RequestInfo, user: User) -> Answer:
        if not request_info.resource:
            if (handler := self.mux.handler(call.path)) is not None:
                return await handler(call)
            if (document := openid_document(call, self._access.accounts)) is not None:
                return document
            return await discover(self.catalog, call, self.offload)
        kind = kind_of(self.catalog, request_info)
        refuse_websocket(call, request_info)
        if kind.computed:
            return self.metrics.answer(call, request_info, kind)
        if is_log_stream(kind, request_info.subresource):
            log = self.logs.answer(call, request_info, kind)
            if isinstance(log, LogStream) and wants_websocket(call):
                return log_messages(call.headers, log.pieces)
            return log
        if is_connect(kind, request_info.subresource):
            return await self.streams.answer(call, request_info, kind, user)
        return await self._chain.handle(call, request_info, kind, user)

    async def _safe(self, call: ApiRequest, answer: Answer) -> Answer:
        """The answer, as soon as no crash can undo what it tells."""
        safe = False
        try:
            await self.store.durable()
            safe = True
        except NotDurable:
            return await self.replies.refusal(call, internal_error("the storage has failed"))
        finally:
            if not safe and not isinstance(answer, ApiResponse):
                self.leave(answer)
        return answer


async def _unbroken(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """What comes; TransportError if it breaks off, as over a connection."""
    try:
        async for chunk in chunks:
            yield chunk
    except Disconnected:
        raise TransportError("the response broke off") from None


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body
