"""One relay, for as long as the tunnel lives: connect, serve, and come back after every loss.

    CONNECTING --HELLO_ACK--> CONNECTED --lost--> BACKOFF --waited--> CONNECTING

Relays are independent of each other: each has an relay of its own, and all are used at once. The
process never ends because relays are down.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any, Protocol

import msgspec

from quintant.agents.dns.host_resolver import HostResolver
from quintant.agents.multiplex.connection import Keepalive, MultiplexConnection
from quintant.agents.tunnel.backoff import ConnectAttempt, ReconnectBackoff
from quintant.agents.tunnel.dial import CONNECT_SECONDS, Dialed, UpgradeRefused, dial_relay
from quintant.agents.tunnel.options import RelayEndpoint
from quintant.agents.tunnel.relay_session import (
    Connected,
    MultiplexRelaySession,
    RelaySession,
    StreamHandler,
    farewell,
)
from quintant.agents.tunnel.status import TunnelStatus
from quintant.wire.portal import Close, Hello, Reason
from quintant.wire.tunnelreport import DialState as Reach
from quintant.wire.tunnelreport import RelayReport

_STATUS = {
    401: Close.UNAUTHENTICATED,
    403: Close.NOT_ALLOWED,
    429: Close.LIMIT,
    503: Close.DRAINING,
}
"""What a relay that refuses the upgrade means, in codes of the protocol."""


class ConnectObserver(Protocol):
    """Who counts."""

    def attempted(self, relay: str, result: str) -> None:
        """An attempt to connect ended."""


class RelayClient:
    """The connection to one relay."""

    def __init__(
        self,
        relay: RelayEndpoint,
        hello: Hello,
        seed: bytes,
        backend: StreamHandler,
        status: TunnelStatus,
    ) -> None:
        self._relay, self._hello, self._seed = relay, hello, seed
        self._backend, self._status = backend, status
        self._report = RelayReport(relay.name, relay.url)
        self._sessions: set[RelaySession] = set()
        self._draining = asyncio.Event()
        status.tell(self._report)

    async def run(self, resolver: HostResolver, random: Random, observer: ConnectObserver) -> None:
        """Stay connected until the tunnel drains."""
        memory = ReconnectBackoff()
        async with asyncio.TaskGroup() as group:
            while not self._draining.is_set():
                self._tell(state=Reach.CONNECTING, attempts=self._report.attempts + 1)
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
            dialed = await dial_relay(self._relay, resolver, random)
        except (UpgradeRefused, OSError, TimeoutError, UnicodeError) as error:
            observer.attempted(self._relay.name, "failed")
            return ConnectAttempt(_code(error)), _error_text(error)
        session = self._session(dialed, self._connected(observer))
        work = group.create_task(self._served(dialed, session))
        # A relay that is leaving finishes its visitors; we look for its successor meanwhile.
        ends: set[asyncio.Future[Any]] = {work, session.away}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        reason = work.result() if work.done() else farewell(session)
        if not session.welcomed:
            observer.attempted(self._relay.name, "refused")
        lasted = asyncio.get_running_loop().time() - began
        return ConnectAttempt(reason.code, lasted, reason.retry_after_ms / 1000), _explained(reason)

    def _session(self, dialed: Dialed, connected: Connected) -> RelaySession:
        """The session in the protocol that the relay speaks."""
        connection = MultiplexConnection(dialed.socket, Keepalive())
        if dialed.own:
            return MultiplexRelaySession(connection, self._backend, self._hello, connected)
        # Whoever never meets such a relay does not load what it takes.
        from quintant.agents.tunnel.portalv1_session import PortalV1RelaySession

        dialed.socket.as_byte_stream()
        app, seed = self._hello.app, self._seed
        return PortalV1RelaySession(connection, self._backend, app, seed, connected)

    async def _served(self, dialed: Dialed, session: RelaySession) -> Reason:
        self._sessions.add(session)
        session.connection.on_pong = lambda: self._status.measure(
            self._relay.name, round(session.connection.round_trip * 1000, 2)
        )
        try:
            return await session.run()
        finally:
            dialed.socket.abort()
            self._sessions.discard(session)

    def _connected(self, observer: ConnectObserver) -> Connected:
        def report(public_url: str) -> None:
            observer.attempted(self._relay.name, "connected")
            self._tell(state=Reach.CONNECTED, last_error="", close_code=0, public_url=public_url)

        return report

    def _tell(self, **changes: object) -> None:
        self._report = msgspec.structs.replace(self._report, **changes)
        self._status.tell(self._report)


def _code(error: BaseException) -> int:
    return _STATUS.get(error.status, 0) if isinstance(error, UpgradeRefused) else 0


def _error_text(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {CONNECT_SECONDS:.0f} s"
    return str(error) or type(error).__name__


def _explained(reason: Reason) -> str:
    return f"{reason.msg} ({reason.code})" if reason.code else reason.msg
