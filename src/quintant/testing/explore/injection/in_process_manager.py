"""A manager of ours as a process under test: its transport, between its start and its end.

Everything that it sends passes here. What is dead sends nothing: from the moment at which a process
is killed no request of it reaches the server, whatever its tasks still do until they are ended.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from quintant.client.request_info import ResourcePath, resource_path, verb_of
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, Transport
from quintant.core.clock import Clock
from quintant.runtime.leader.elector import ElectorState
from quintant.runtime.manager.engine import Engine
from quintant.testing.explore.injection.lease_writes import LeaseWrites
from quintant.testing.explore.injection.leases import LeaseTable
from quintant.testing.explore.injection.process import (
    LEASES,
    READS,
    Disturbance,
    decode_event,
)
from quintant.testing.explore.injection.trace import Trace
from quintant.testing.explore.remote import RemoteModel

T = TypeVar("T")

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class SkewedClock:
    """A wall clock that is ahead of another one, or behind."""

    def __init__(self, right: Clock) -> None:
        self.ahead: float = 0.0
        """Seconds; negative ones are behind."""
        self._right = right

    def now(self) -> datetime:
        """The time of day, as far as this clock knows."""
        return self._right.now() + timedelta(seconds=self.ahead)


class InProcessManager:
    """One life of a manager; it is the transport that its manager is bound to."""

    def __init__(
        self,
        index: int,
        inner: Transport,
        disturbance: Disturbance,
        trace: Trace,
        leases: LeaseTable,
        clock: Clock,
    ) -> None:
        self.index = index
        self.clock: SkewedClock = SkewedClock(clock)
        """Its wall clock, which may be wrong."""
        self.alive: bool = True
        self.ending: Final = asyncio.Event()
        """Set when the process is to end."""
        self.stopping = False
        """Whether it is to be stopped in order, and not killed."""
        self.paused = False
        """Whether it stands still: its timers are due, and do not ring."""
        self.engine: Engine | None = None
        self.inner = inner
        self.requests_left: int | None = None
        """How many requests it sends before it is killed on its way out; None is all of them."""
        self.away: float = 0.0
        """Seconds for which it is not started again, at least."""
        self._connected = asyncio.Event()
        self._connected.set()
        self._disturbance, self._trace, self._leases = disturbance, trace, leases
        self._lease_writes = LeaseWrites()

    @property
    def working(self) -> bool:
        """Whether it does what there is to do: it runs, is reachable, and leads if it has to."""
        engine = self.engine
        if engine is None or not self.alive or not self._connected.is_set():
            return False
        return engine.elector is None or engine.elector.state is ElectorState.LEADING

    def cut_off(self) -> None:
        """Nothing that it sends arrives any more, and nothing is answered; it runs on."""
        self._connected.clear()

    def reconnect(self) -> None:
        """What it sends arrives again."""
        self._connected.set()

    async def reachable(self) -> None:
        """Return when the server can be reached."""
        if not self._connected.is_set():
            await self._connected.wait()

    def kill(self) -> None:
        """Nothing of this process reaches anybody from now on."""
        self.alive = False
        self.ending.set()
        if self.stopping and self.engine is not None:
            self.engine.abandon()

    def check(self) -> None:
        """CancelledError in whatever still runs of a process that was killed."""
        if not self.alive:
            raise asyncio.CancelledError

    async def request(self, call: ApiRequest) -> ApiResponse:
        """Send a request."""
        self.check()
        await self.reachable()
        await self._on_its_way(call)
        at, reads = resource_path(call.path), verb_of(call) in READS
        if self._elects(at):
            return await self._elected(call, reads=reads)
        if not reads and self._is_member(at) and self._lease_writes.is_news(call):
            reply = await self._disturbance.lease_write(self, call)
        elif reads or (at.group, at.plural) == LEASES:
            reply = await self.inner.request(self._disturbance.read(self, call))
        else:
            reply = await self._disturbance.write(self, call)
        self.check()
        self._disturbance.saw(self, reply.body)
        self._trace.digest_of(str(call).encode(), call.body or b"", reply.body)
        return reply

    async def _on_its_way(self, call: ApiRequest) -> None:
        """What a process reads as it starts is a step of it; one that stops may not get far."""
        if self.requests_left is not None:
            if self.requests_left == 0:
                self.kill()
            self.requests_left -= 1
            self.check()
        starting = self.engine is None or not self.engine.started.is_set()
        if starting and verb_of(call) in READS and not self._elects(resource_path(call.path)):
            await self._disturbance.step(self, call)

    async def _elected(self, call: ApiRequest, *, reads: bool) -> ApiResponse:
        """The answer about the lease that it competes for."""
        elector = self.engine.elector if self.engine is not None else None
        if reads or elector is None or elector.state is not ElectorState.LEADING:
            return self._leases.answer(call)
        reply = await self._disturbance.renewal(self, call, lambda: self._leases.answer(call))
        self.check()
        return reply

    def _elects(self, at: ResourcePath) -> bool:
        """Whether a request is about the lease that this process competes for."""
        elector = self.engine.elector if self.engine is not None else None
        if elector is None or (at.group, at.plural) != LEASES:
            return False
        return at.namespace == elector.election.namespace and (
            at.name in ("", elector.election.name)
        )

    def _is_member(self, at: ResourcePath) -> bool:
        """Whether a write is what a member says of itself, or of the map."""
        sharded = self.engine is not None and self.engine.coordinator is not None
        return sharded and (at.group, at.plural) == LEASES

    async def call(
        self, model: RemoteModel, text: str, work: Callable[[], Coroutine[Any, Any, T]]
    ) -> T:
        """Call a remote."""
        self.check()
        answer = await self._disturbance.call(self, model, text, work)
        self.check()
        # Where an object lies in memory is no part of an answer.
        self._trace.digest_of(text.encode(), _ADDRESS.sub("", repr(answer)).encode())
        return answer

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        """Open a watch."""
        self.check()
        await self.reachable()
        await self._on_its_way(call)
        refusal = self._disturbance.refusal(self, call)
        if refusal is not None:
            yield ApiStream(refusal.status, _once(refusal.body), refusal.headers)
            return
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
                event = decode_event(line)
                if event.type == "BOOKMARK":
                    initial = False
                elif not initial:
                    await self._disturbance.deliver(self, at, event)
                self.check()
                await self.reachable()
                self._disturbance.saw(self, line)
                self._trace.digest_of(line)
            yield chunk


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body
