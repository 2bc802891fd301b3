"""The embedded server as the server of a run."""

from __future__ import annotations

from contextvars import ContextVar

from quintant.client.transport import ApiRequest, ApiResponse, Transport
from quintant.cluster.apiserver.kubelet_client.streaming_runtime import StreamingRuntime
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.server.https import ApiEdge, HttpResponse
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.storage.history import Change
from quintant.cluster.apiserver.storage.revision_log import Table
from quintant.http.request import Request

_WRITES: ContextVar[bool] = ContextVar("_WRITES", default=False)
"""Whether the server is at work on what a program writes."""


class EmbeddedServer:
    """A server in this process: its store is read as it is."""

    def __init__(self, server: ApiServer, admin: Transport) -> None:
        self.stored: ApiServer = server
        self.admin: Transport = admin
        self._edge = ApiEdge(server)

    async def answer(self, call: ApiRequest, request: Request) -> HttpResponse:
        """What the server answers."""
        return await self._edge.answer(call, request)

    async def write(self, call: ApiRequest, user: User) -> ApiResponse:
        """What the server answers, whole."""
        token = _WRITES.set(True)
        try:
            answer = await self.stored.handle(call, user)
        finally:
            _WRITES.reset(token)
        assert isinstance(answer, ApiResponse), "a write is answered whole"
        return answer

    async def turn_away(self, request: Request) -> HttpResponse:
        """Who has a token of the server is somebody to it."""
        return await self._edge.handle(request)

    def is_by_program(self, table: Table, change: Change) -> bool:
        """Changes are told while the write is at work."""
        return _WRITES.get()

    def run_commands(self, runtime: StreamingRuntime) -> None:
        """Answer commands in containers."""
        self.stored.streams.runtimes.append(runtime)
