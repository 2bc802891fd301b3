"""One relay, for as long as the tunnel lives: connect, serve, and come back after every loss.

    CONNECTING --HELLO_ACK--> CONNECTED --lost--> BACKOFF --waited--> CONNECTING

Relays are independent of each other: each has an relay of its own, and all are used at once. The
process never ends because relays are down.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any, Protocol

import msgspec

from quintant.agents.dns.host_resolver import HostResolver
from quintant.agents.multiplex.connection import Keepalive, MultiplexConnection
from quintant.agents.multiplex.session import MultiplexSession, ProtocolViolation, SessionState
from quintant.agents.multiplex.socket import WebSocket
from quintant.agents.multiplex.stream import MultiplexStream
from quintant.agents.tunnel.backoff import ConnectAttempt, ReconnectBackoff
from quintant.agents.tunnel.dial import CONNECT_SECONDS, UpgradeRefused, dial_relay
from quintant.agents.tunnel.options import RelayEndpoint
from quintant.agents.tunnel.status import TunnelStatus
from quintant.wire.portal import (
    VERSION,
    Close,
    Farewell,
    Frame,
    FrameKind,
    Hello,
    Opening,
    Reason,
    Welcome,
    document,
    telling,
)
from quintant.wire.tunnelreport import DialState as Reach
from quintant.wire.tunnelreport import RelayReport

_STATUS = {
    401: Close.UNAUTHENTICATED,
    403: Close.NOT_ALLOWED,
    429: Close.LIMIT,
    503: Close.DRAINING,
}
"""What a relay that refuses the upgrade means, in codes of the protocol."""


class StreamHandler(Protocol):
    """Where streams lead to."""

    def opened(self, stream: MultiplexStream, opening: Opening) -> None:
        """A visitor came."""


class ConnectObserver(Protocol):
    """Who counts."""

    def attempted(self, relay: str, result: str) -> None:
        """An attempt to connect ended."""


class RelayClient:
    """The connection to one relay."""

    def __init__(
        self, relay: RelayEndpoint, hello: Hello, backend: StreamHandler, status: TunnelStatus
    ) -> None:
        self._relay, self._hello, self._backend, self._status = relay, hello, backend, status
        self._said = RelayReport(relay.name, relay.url)
        self._sessions: set[RelaySession] = set()
        self._draining = asyncio.Event()
        status.tell(self._said)

    async def run(self, resolver: HostResolver, random: Random, observer: ConnectObserver) -> None:
        """Stay connected until the tunnel drains."""
        memory = ReconnectBackoff()
        async with asyncio.TaskGroup() as group:
            while not self._draining.is_set():
                self._tell(state=Reach.CONNECTING, attempts=self._said.attempts + 1)
                attempt, error = await self._once(resolver, random, observer, group)
                if self._draining.is_set():
                    return
                memory, wait = memory.after(attempt, random)
                self._tell(state=Reach.BACKOFF, last_error=error, close_code=attempt.code)
                await self._pause(wait)

    async def drain(self, seconds: float) -> None:
        """Take no new visitors, finish those who are there, and close."""
        self._draining.set()
        await asyncio.gather(*(session.drain(seconds) for session in self._sessions))

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._draining.wait()
        except TimeoutError:
            return

    async def _once(
        self,
        resolver: HostResolver,
        random: Random,
        observer: ConnectObserver,
        group: asyncio.TaskGroup,
    ) -> tuple[ConnectAttempt, str]:
        began = asyncio.get_running_loop().time()
        try:
            socket = await dial_relay(self._relay, resolver, random)
        except (UpgradeRefused, OSError, TimeoutError, UnicodeError) as error:
            observer.attempted(self._relay.name, "failed")
            return ConnectAttempt(_code(error)), _said(error)
        session = RelaySession(
            MultiplexConnection(socket, Keepalive()), self._backend, self._welcomed(observer)
        )
        work = group.create_task(self._served(socket, session))
        # A relay that is leaving finishes its visitors; we look for its successor meanwhile.
        ends: set[asyncio.Future[Any]] = {work, session.away}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        reason = work.result() if work.done() else session.farewell
        if not session.welcome:
            observer.attempted(self._relay.name, "refused")
        lasted = asyncio.get_running_loop().time() - began
        return ConnectAttempt(reason.code, lasted, reason.retry_after_ms / 1000), _explained(reason)

    async def _served(self, socket: WebSocket, session: RelaySession) -> Reason:
        self._sessions.add(session)
        session.connection.on_pong = lambda: self._status.measure(
            self._relay.name, round(session.connection.round_trip * 1000, 2)
        )
        try:
            return await session.run(self._hello)
        finally:
            socket.abort()
            self._sessions.discard(session)

    def _welcomed(self, observer: ConnectObserver) -> Callable[[Welcome], None]:
        def told(welcome: Welcome) -> None:
            observer.attempted(self._relay.name, "connected")
            self._tell(
                state=Reach.CONNECTED, last_error="", close_code=0, public_url=welcome.public_url
            )

        return told

    def _tell(self, **changes: object) -> None:
        self._said = msgspec.structs.replace(self._said, **changes)
        self._status.tell(self._said)


class RelaySession:
    """One connection to a relay, from the greeting to the end."""

    def __init__(
        self,
        connection: MultiplexConnection,
        backend: StreamHandler,
        welcomed: Callable[[Welcome], None],
    ) -> None:
        self.connection, self._backend, self._welcomed = connection, backend, welcomed
        self.session = MultiplexSession(self, relay=False)
        self.welcome: Welcome | None = None
        self.away: asyncio.Future[Farewell] = asyncio.get_running_loop().create_future()
        """Done when the relay begins to leave."""
        self._empty = asyncio.Event()

    async def run(self, hello: Hello) -> Reason:
        """Greet, and serve until it is over."""
        self.session.control(telling(FrameKind.HELLO, hello))
        return await self.connection.run(self.session)

    @property
    def farewell(self) -> Reason:
        """What the relay said when it began to leave."""
        return Reason(Close.DRAINING, "the relay is leaving", self.away.result().retry_after_ms)

    async def drain(self, seconds: float) -> None:
        """Leave in order: the relay answers the PING after it has read the GOAWAY, so what it
        opened before is here by then."""
        if self.session.state is not SessionState.OPEN:
            return
        self.session.leave(Farewell("drain"))
        heard: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.connection.on_pong = lambda: None if heard.done() else heard.set_result(None)
        self.connection.ping(self.session)
        try:
            async with asyncio.timeout(seconds):
                await heard
                while self.session.streams:
                    self._empty.clear()
                    await self._empty.wait()
        except TimeoutError:
            pass
        await self.connection.close(Reason(Close.GONE, "drained"))

    # What the session calls.

    def greeted(self, frame: Frame) -> None:
        welcome = document(frame, Welcome)
        if welcome.v != VERSION:
            raise ProtocolViolation(f"version {welcome.v}", Close.VERSION)
        self.session.agree(welcome.window, welcome.max_streams)
        self.welcome = welcome
        self._welcomed(welcome)

    def opened(self, stream: MultiplexStream, opening: Opening) -> None:
        self._backend.opened(stream, opening)

    def leaving(self, farewell: Farewell) -> None:
        if not self.away.done():
            self.away.set_result(farewell)

    def emptied(self) -> None:
        self._empty.set()

    def ponged(self, payload: bytes) -> None:
        self.connection.ponged(payload)

    def wake(self) -> None:
        self.connection.wake()


def _code(error: BaseException) -> int:
    return _STATUS.get(error.status, 0) if isinstance(error, UpgradeRefused) else 0


def _said(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {CONNECT_SECONDS:.0f} s"
    return str(error) or type(error).__name__


def _explained(reason: Reason) -> str:
    return f"{reason.msg} ({reason.code})" if reason.code else reason.msg
