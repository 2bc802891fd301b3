"""Another API server as the server of a run: requests go on to it, as its administrator.

Commands in containers are answered here: its simulated pods run nothing, and their nodes have no
kubelet. History is compacted here as well, for the program alone: no client may ask for that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager

from quintant.client.request_info import ResourcePath, resource_path, verb_of
from quintant.client.transport import JSON, ApiRequest, ApiResponse, Transport
from quintant.cluster.apiserver.kubelet_client.streaming_runtime import StreamingRuntime
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.server.https import ApiEdge, HttpResponse
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.storage.history import Change
from quintant.cluster.apiserver.storage.revision_log import Table
from quintant.core.errors import TransportError
from quintant.http.connection import Disconnected
from quintant.http.request import Request
from quintant.http.response import Response, StreamingResponse
from quintant.testing.explore.foreign.points import CONNECTIONS
from quintant.testing.explore.foreign.servers.mirror import Mirror, whole_lines
from quintant.testing.explore.injection.subjects import table_of
from quintant.testing.faults.rule import status_answer
from quintant.wire.foreign import MalformedInput, decode_json

UNAUTHORIZED, GONE = 401, 410
MOST_ANSWER = 64 * 1024 * 1024
"""Bytes of an answer that a revision is read from."""
_OF_CONNECTION = frozenset(
    ("connection", "content-length", "host", "keep-alive", "transfer-encoding", "authorization")
)
"""Fields of a request or an answer that are about the way it came."""


class RemoteServer:
    """A server that is reached over the network."""

    def __init__(self, stored: Mirror, kinds: ApiServer, admin: Transport) -> None:
        """`kinds` knows the kinds of the server, and answers commands in containers."""
        self.stored: Mirror = stored
        self.admin: Transport = admin
        self._kinds, self._edge = kinds, ApiEdge(kinds)
        self._writing: Counter[tuple[str, str]] = Counter()
        """Table and key, or namespace, of what a program is writing now."""
        self._written: set[int] = set()
        """Revisions that programs have written."""

    async def answer(self, call: ApiRequest, request: Request) -> HttpResponse:
        """What the server answers, or we in the place of a kubelet."""
        at = resource_path(call.path)
        if at.plural == "pods" and at.sub in CONNECTIONS:
            self._show_pods()
            return await self._edge.answer(call, request)
        if verb_of(call) == "watch" and at.plural:
            return await self._watch(call, at)
        answer = await self.admin.request(_sent_on(call))
        return Response(answer.status, _fields(answer.headers), answer.body)

    async def write(self, call: ApiRequest, user: User) -> ApiResponse:
        """What the server answers."""
        with self._noted(resource_path(call.path)):
            answer = await self.admin.request(_sent_on(call))
            self._written.add(_revision(answer))
        return ApiResponse(answer.status, answer.body, _fields(answer.headers))

    async def turn_away(self, request: Request) -> HttpResponse:
        """Refuse: the server is asked as its administrator, and would refuse nothing."""
        refusal = status_answer(UNAUTHORIZED, "Unauthorized")
        return Response(refusal.status, refusal.headers, refusal.body)

    def is_by_program(self, table: Table, change: Change) -> bool:
        """By its revision, or, while that is not answered yet, by what it is about."""
        namespace = change.key.rpartition("/")[0]
        about = ((table.name, change.key), (table.name, namespace))
        return change.rv in self._written or any(self._writing[each] for each in about)

    def run_commands(self, runtime: StreamingRuntime) -> None:
        """Answer commands in containers."""
        self._kinds.streams.runtimes.append(runtime)

    def _show_pods(self) -> None:
        """Let who answers commands know the pods, and where they are."""
        for name in ("pods", "nodes"):
            table = self._kinds.store.table(name)
            for key, entry in self.stored.store.table(name).entries.items():
                self._kinds.store.put(table, key, entry)

    async def _watch(self, call: ApiRequest, at: ResourcePath) -> HttpResponse:
        since = call.query.get("resourceVersion", "")
        if since.isdigit() and 0 < int(since) < self.stored.compacted:
            return StreamingResponse(_expired(), headers={"content-type": JSON})
        stack = AsyncExitStack()
        try:
            stream = await stack.enter_async_context(self.admin.stream(_sent_on(call)))
            if stream.status != 200:
                body = b"".join([chunk async for chunk in stream.chunks])
                await stack.aclose()
                return Response(stream.status, _fields(stream.headers), body)
        except BaseException:
            await stack.aclose()
            raise
        return StreamingResponse(_lines(stack, stream.chunks), headers=_fields(stream.headers))

    @contextmanager
    def _noted(self, at: ResourcePath) -> Iterator[None]:
        about = [table_of(at), f"{at.namespace}/{at.name}".strip("/")]
        self._writing[about[0], about[1]] += 1
        try:
            yield
        finally:
            self._writing[about[0], about[1]] -= 1


async def _expired() -> AsyncGenerator[bytes, None]:
    """What a server says in a watch whose history is gone."""
    refusal = status_answer(GONE, "too old resource version (injected)")
    yield b'{"type":"ERROR","object":%b}\n' % refusal.body


async def _lines(
    stack: AsyncExitStack, chunks: AsyncIterator[bytes]
) -> AsyncGenerator[bytes, None]:
    """Whole lines: each is looked at on its way."""
    async with stack:
        try:
            async for line in whole_lines(chunks):
                yield line
        except TransportError:
            raise Disconnected from None


def _sent_on(call: ApiRequest) -> ApiRequest:
    """A call of a program as one of the administrator."""
    return ApiRequest(call.method, call.path, call.query, _fields(call.headers), call.body)


def _fields(headers: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in headers.items() if key.lower() not in _OF_CONNECTION}


def _revision(answer: ApiResponse) -> int:
    """At which revision an object was written that is answered; 0 if none is told."""
    if JSON not in answer.headers.get("content-type", JSON):
        return 0
    try:
        document = decode_json(answer.body, most=MOST_ANSWER)
        return int(document["metadata"]["resourceVersion"])
    except (MalformedInput, KeyError, TypeError, ValueError):
        return 0
