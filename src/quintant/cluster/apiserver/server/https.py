"""SecureServingInfo: the HTTP edge: an `ApiServer` on a socket.

It turns a request into a `ApiRequest` and an answer into bytes on a connection, and holds no other
knowledge. While it is served, the server has threads for what takes long
(quintant.cluster.apiserver.offload.pool). Large answers and watches are written piece by piece, so
that one slow or greedy client stalls nobody else.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from math import inf
from ssl import SSLContext
from urllib.parse import unquote
from weakref import WeakKeyDictionary, WeakSet

from msgspec.structs import replace

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.filters.impersonation import SEPARATOR
from quintant.cluster.apiserver.golang.query import read_pairs
from quintant.cluster.apiserver.handlers.pod_streams import PodStream
from quintant.cluster.apiserver.meta.user import User, certified
from quintant.cluster.apiserver.proxy.exchange import IDLE_SECONDS
from quintant.cluster.apiserver.proxy.handler import ProxiedResponse
from quintant.cluster.apiserver.response import gzip
from quintant.cluster.apiserver.response.list_stream import ListStream
from quintant.cluster.apiserver.server.replies import Flow as Ongoing
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.watch.hub import Watcher
from quintant.core.address import BindAddress
from quintant.http.connection import Connection, Disconnected
from quintant.http.head import ProtocolError
from quintant.http.request import Request, RequestLimits
from quintant.http.response import Response, StreamingResponse, UpgradeResponse
from quintant.runtime.observe.listen import listen

LOOPBACK = "127.0.0.1"
PIECE = 64 * 1024
"""Bytes written before the loop gets a turn: about what a socket takes at once."""
STALL_SECONDS = 30.0
"""How long a client of a watch may leave bytes unread before it is cut; it can resume."""
LIMITS = RequestLimits(
    head_bytes=1024 * 1024 + 4096,  # a selector may be long
    fields=10_000,
    head_seconds=32.0,
    first_seconds=32.0,
    idle_seconds=90.0,
)
"""What a client may send and how long it may take, as on a real server."""

HttpResponse = Response | StreamingResponse | UpgradeResponse
_IMPERSONATE = "impersonate-"
_BROKEN = re.compile("%(?![0-9A-Fa-f]{2})")


@asynccontextmanager
async def serve(
    server: ApiServer, host: str = LOOPBACK, port: int = 0, ssl: SSLContext | None = None
) -> AsyncIterator[str]:
    """Serve over HTTP, or HTTPS with a context, until left; yields the server's URL.

    Port 0 takes any free one. Only loopback is reachable from this machine alone: bind elsewhere
    with TLS and authorisation only. A context that verifies client certificates makes their
    holders users of the server.
    """
    edge = ApiEdge(server)
    async with listen(edge.handle, BindAddress(host, port), ssl, limits=LIMITS) as address:
        try:
            with server.staffed():
                yield f"{'http' if ssl is None else 'https'}://{address}"
        finally:
            server.close()


class ApiEndpoint:
    """One more address of a server, for the programs of one node: it can be cut off, and opened."""

    def __init__(self, server: ApiServer) -> None:
        self._edge, self._connected = ApiEdge(server), True
        self._connections: WeakSet[Connection] = WeakSet()

    def connect(self) -> None:
        """Answer again."""
        self._connected = True

    def disconnect(self) -> None:
        """Answer nobody, and break the connections that are open."""
        self._connected = False
        for connection in tuple(self._connections):
            connection.abort()

    async def handle(self, request: Request) -> HttpResponse:
        """The answer of the server, if it can be reached."""
        self._connections.add(request.connection)
        if not self._connected:
            request.connection.abort()
            raise Disconnected
        return await self._edge.handle(request)


@asynccontextmanager
async def serve_endpoint(
    server: ApiServer, host: str, ssl: SSLContext
) -> AsyncIterator[tuple[ApiEndpoint, BindAddress]]:
    """Serve at one more address of a host while the context lasts; yields which that is."""
    endpoint, anywhere = ApiEndpoint(server), BindAddress(host, 0)
    async with listen(endpoint.handle, anywhere, ssl, limits=LIMITS, goodbye=0.0) as address:
        yield endpoint, address


class ConnectionPeers:
    """Whom connections prove."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Connection, User | None] = WeakKeyDictionary()

    def find(self, connection: Connection) -> User | None:
        """The holder of a certificate that TLS has verified."""
        if connection not in self._known:
            secure = connection.transport.get_extra_info("ssl_object")
            certificate = secure.getpeercert() if secure is not None else None
            raw = secure.getpeercert(True) if certificate else None
            self._known[connection] = certified(certificate, raw) if certificate and raw else None
        return self._known[connection]


class ApiEdge:
    """One request after another, from HTTP to the server and back."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self.peer: Callable[[Connection], User | None] = ConnectionPeers().find
        """Whom a connection proves."""

    async def handle(self, request: Request) -> HttpResponse:
        """The answer of the server."""
        return await self.answer(read_call(request), request)

    async def answer(self, call: ApiRequest, request: Request) -> HttpResponse:
        """The answer to a call that came in a request, whose body may not have been read yet."""
        answer = await self._server.handle(call, self.peer(request.connection), request)
        if isinstance(answer, PodStream):
            over = partial(self._server.leave, answer)
            return UpgradeResponse(answer.serve, answer.headers, over)
        if not isinstance(answer, ApiResponse):
            return self._flow(call, answer)
        if len(answer.body) <= PIECE:
            return Response(answer.status, answer.headers, answer.body)
        return _large(call, answer)

    def _flow(self, call: ApiRequest, flow: Ongoing) -> StreamingResponse:
        headers, pieces = self._server.replies.flow_headers(flow), flow.chunks()
        if isinstance(flow, ListStream):
            return _packed(StreamingResponse(pieces, headers=headers), call)
        # Changes queue up for who does not read them; what a program prints waits in its file.
        patience = STALL_SECONDS if isinstance(flow, Watcher) else inf
        over = partial(self._server.leave, flow)
        if isinstance(flow, ProxiedResponse):
            return _proxied(flow, headers, over)
        return StreamingResponse(pieces, over, headers=headers, write_timeout=patience)


def read_call(request: Request) -> ApiRequest:
    """The head of a request. What is no text in it is shown as such, and is nobody's name."""
    headers: dict[str, str] = {}
    for raw, value in request.head.fields:
        key, text = raw.decode("ascii").lower(), value.decode("utf-8", "replace")
        if key.startswith(_IMPERSONATE):
            _check_text(value)
        between = SEPARATOR if key.startswith(_IMPERSONATE) else ","
        headers[key] = f"{headers[key]}{between}{text}" if key in headers else text
    return ApiRequest(request.method, _path(request), read_pairs(request.query), headers, None)


def _check_text(value: bytes) -> None:
    try:
        value.decode()
    except UnicodeDecodeError:
        raise ProtocolError(400, "a header that is not UTF-8") from None


def _path(request: Request) -> str:
    path = request.path
    if "%" not in path:
        return path
    if _BROKEN.search(path):
        raise ProtocolError(400, "")
    return unquote(path)


def _proxied(
    flow: ProxiedResponse, headers: Mapping[str, str], over: Callable[[], None]
) -> StreamingResponse:
    """A response of another server; of its fields there may be several with one name."""
    there = {name for name, _ in flow.fields}
    own = {name: value for name, value in headers.items() if name not in there}
    return StreamingResponse(
        flow.pieces, over, flow.status, own, flow.size, flow.fields, write_timeout=IDLE_SECONDS
    )


def _large(call: ApiRequest, answer: ApiResponse) -> StreamingResponse:
    size = len(answer.body)
    flow = StreamingResponse(
        _pieces(answer.body), status=answer.status, headers=answer.headers, size=size
    )
    return _packed(flow, call) if size > gzip.FROM else flow


def _packed(flow: StreamingResponse, call: ApiRequest) -> StreamingResponse:
    """The same answer, compressed if the client reads it so."""
    if not gzip.accepts_gzip(call):
        return flow
    headers = {**flow.headers, **gzip.HEADERS}
    return replace(flow, pieces=gzip.gzip_pieces(flow.pieces), headers=headers, size=None)


async def _pieces(body: bytes) -> AsyncGenerator[bytes, None]:
    for at in range(0, len(body), PIECE):
        yield body[at : at + PIECE]
        await asyncio.sleep(0)
