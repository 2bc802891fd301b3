"""A process: one manager between its start and its end, and its way to the API server.

Everything that it sends passes here. What is dead sends nothing: from the moment at which a process
is killed no request of it reaches the server, whatever its tasks still do until they are ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar

import msgspec

from quintant.client.request_info import ResourcePath, resource_path, verb_of
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, Transport
from quintant.runtime.manager.engine import Engine
from quintant.testing.explore.remote import RemoteModel
from quintant.testing.explore.trace import Trace

T = TypeVar("T")

READS = frozenset(("get", "list", "watch"))
LEASES = ("coordination.k8s.io", "leases")
"""An election goes on all the time, and is no part of what a manager does."""


class WatchedEvent(msgspec.Struct, frozen=True):
    """What is read of a line of a watch."""

    type: str
    object: WatchedObject


class WatchedObject(msgspec.Struct, frozen=True):
    """What is read of the object in it."""

    metadata: WatchedMeta


class WatchedMeta(msgspec.Struct, frozen=True, rename="camel"):
    """What is read of its metadata."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = "0"
    annotations: dict[str, str] | None = None

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


_event = msgspec.json.Decoder(WatchedEvent)


class Disturbance(Protocol):
    """What can happen on the way."""

    async def write(self, process: ManagerProcess, call: ApiRequest) -> ApiResponse:
        """Pass a write on, or do to it what is to be done."""

    async def call(
        self,
        process: ManagerProcess,
        model: RemoteModel,
        text: str,
        work: Callable[[], Coroutine[Any, Any, T]],
    ) -> T:
        """Carry out a call of a remote, or do to it what is to be done."""

    async def deliver(self, process: ManagerProcess, at: ResourcePath, event: WatchedEvent) -> None:
        """Return when an event may be delivered."""


class ManagerProcess:
    """One life of a manager; it is the transport that its manager is bound to."""

    def __init__(
        self, index: int, inner: Transport, disturbance: Disturbance, trace: Trace
    ) -> None:
        self.index = index
        self.alive = True
        self.ending = asyncio.Event()
        """Set when the process is to end."""
        self.stopping = False
        """Whether it is to be stopped in order, and not killed."""
        self.engine: Engine | None = None
        self.inner = inner
        self._disturbance, self._trace = disturbance, trace

    def kill(self) -> None:
        """Nothing of this process reaches anybody from now on."""
        self.alive = False
        self.ending.set()

    def check(self) -> None:
        """CancelledError in whatever still runs of a process that was killed."""
        if not self.alive:
            raise asyncio.CancelledError

    async def request(self, call: ApiRequest) -> ApiResponse:
        """Send a request."""
        self.check()
        at = resource_path(call.path)
        if verb_of(call) in READS or (at.group, at.plural) == LEASES:
            reply = await self.inner.request(call)
        else:
            reply = await self._disturbance.write(self, call)
        self.check()
        self._trace.digest_of(str(call).encode(), call.body or b"", reply.body)
        return reply

    async def call(
        self, model: RemoteModel, text: str, work: Callable[[], Coroutine[Any, Any, T]]
    ) -> T:
        """Call a remote."""
        self.check()
        answer = await self._disturbance.call(self, model, text, work)
        self.check()
        self._trace.digest_of(text.encode(), repr(answer).encode())
        return answer

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        """Open a watch."""
        self.check()
        async with self.inner.stream(call) as stream:
            chunks = stream.chunks
            if stream.status == 200 and verb_of(call) == "watch":
                chunks = self._delivered(call, stream.chunks)
            yield ApiStream(stream.status, chunks, stream.headers)

    async def close(self) -> None:
        """Nothing to let go of."""

    async def _delivered(
        self, call: ApiRequest, chunks: AsyncIterator[bytes]
    ) -> AsyncIterator[bytes]:
        at, initial = resource_path(call.path), "sendInitialEvents" in call.query
        async for chunk in chunks:
            for line in chunk.splitlines(keepends=True):
                event = _event.decode(line)
                if event.type == "BOOKMARK":
                    initial = False
                elif not initial:
                    await self._disturbance.deliver(self, at, event)
                self.check()
                self._trace.digest_of(line)
            yield chunk
