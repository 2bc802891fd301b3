"""One relay, for as long as the tunnel lives: connect, serve, and come back after every loss.

    CONNECTING --HELLO_ACK--> CONNECTED --lost--> BACKOFF --waited--> CONNECTING

Relays are independent of each other: each has an uplink of its own, and all are used at once. The
process never ends because relays are down.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any, Protocol

import msgspec

from quintant.agents.multiplex.connection import Link, Pulse
from quintant.agents.multiplex.session import Session, State, Violation
from quintant.agents.multiplex.socket import Socket
from quintant.agents.multiplex.stream import Stream
from quintant.agents.tunnel.backoff import Attempt, Backoff
from quintant.agents.tunnel.dial import CONNECT_SECONDS, TurnedAway, dialled
from quintant.agents.tunnel.host_resolver import Places
from quintant.agents.tunnel.options import Relay
from quintant.agents.tunnel.status import Board
from quintant.wire.portal import (
    VERSION,
    Close,
    Farewell,
    Frame,
    Hello,
    Kind,
    Opening,
    Reason,
    Welcome,
    document,
    telling,
)
from quintant.wire.tunnelreport import RelayReport
from quintant.wire.tunnelreport import State as Reach

_STATUS = {
    401: Close.UNAUTHENTICATED,
    403: Close.NOT_ALLOWED,
    429: Close.LIMIT,
    503: Close.DRAINING,
}
"""What a relay that refuses the upgrade means, in codes of the protocol."""


class Backend(Protocol):
    """Where streams lead to."""

    def opened(self, stream: Stream, opening: Opening) -> None:
        """A visitor came."""


class Tally(Protocol):
    """Who counts."""

    def attempted(self, relay: str, result: str) -> None:
        """An attempt to connect ended."""


class Uplink:
    """The connection to one relay."""

    def __init__(self, relay: Relay, hello: Hello, backend: Backend, board: Board) -> None:
        self._relay, self._hello, self._backend, self._board = relay, hello, backend, board
        self._said = RelayReport(relay.name, relay.url)
        self._calls: set[Call] = set()
        self._draining = asyncio.Event()
        board.tell(self._said)

    async def run(self, places: Places, random: Random, tally: Tally) -> None:
        """Stay connected until the tunnel drains."""
        memory = Backoff()
        async with asyncio.TaskGroup() as group:
            while not self._draining.is_set():
                self._tell(state=Reach.CONNECTING, attempts=self._said.attempts + 1)
                attempt, error = await self._once(places, random, tally, group)
                if self._draining.is_set():
                    return
                memory, wait = memory.after(attempt, random)
                self._tell(state=Reach.BACKOFF, last_error=error, close_code=attempt.code)
                await self._pause(wait)

    async def drain(self, seconds: float) -> None:
        """Take no new visitors, finish those who are there, and close."""
        self._draining.set()
        await asyncio.gather(*(call.drain(seconds) for call in self._calls))

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._draining.wait()
        except TimeoutError:
            return

    async def _once(
        self, places: Places, random: Random, tally: Tally, group: asyncio.TaskGroup
    ) -> tuple[Attempt, str]:
        began = asyncio.get_running_loop().time()
        try:
            socket = await dialled(self._relay, places, random)
        except (TurnedAway, OSError, TimeoutError, UnicodeError) as error:
            tally.attempted(self._relay.name, "failed")
            return Attempt(_code(error)), _said(error)
        call = Call(Link(socket, Pulse()), self._backend, self._welcomed(tally))
        work = group.create_task(self._served(socket, call))
        # A relay that is leaving finishes its visitors; we look for its successor meanwhile.
        ends: set[asyncio.Future[Any]] = {work, call.away}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        reason = work.result() if work.done() else call.farewell
        if not call.welcome:
            tally.attempted(self._relay.name, "refused")
        lasted = asyncio.get_running_loop().time() - began
        return Attempt(reason.code, lasted, reason.retry_after_ms / 1000), _explained(reason)

    async def _served(self, socket: Socket, call: Call) -> Reason:
        self._calls.add(call)
        call.link.on_pong = lambda: self._board.measure(
            self._relay.name, round(call.link.round_trip * 1000, 2)
        )
        try:
            return await call.run(self._hello)
        finally:
            socket.abort()
            self._calls.discard(call)

    def _welcomed(self, tally: Tally) -> Callable[[Welcome], None]:
        def told(welcome: Welcome) -> None:
            tally.attempted(self._relay.name, "connected")
            self._tell(
                state=Reach.CONNECTED, last_error="", close_code=0, public_url=welcome.public_url
            )

        return told

    def _tell(self, **changes: object) -> None:
        self._said = msgspec.structs.replace(self._said, **changes)
        self._board.tell(self._said)


class Call:
    """One connection to a relay, from the greeting to the end."""

    def __init__(self, link: Link, backend: Backend, welcomed: Callable[[Welcome], None]) -> None:
        self.link, self._backend, self._welcomed = link, backend, welcomed
        self.session = Session(self, relay=False)
        self.welcome: Welcome | None = None
        self.away: asyncio.Future[Farewell] = asyncio.get_running_loop().create_future()
        """Done when the relay begins to leave."""
        self._empty = asyncio.Event()

    async def run(self, hello: Hello) -> Reason:
        """Greet, and serve until it is over."""
        self.session.control(telling(Kind.HELLO, hello))
        return await self.link.run(self.session)

    @property
    def farewell(self) -> Reason:
        """What the relay said when it began to leave."""
        return Reason(Close.DRAINING, "the relay is leaving", self.away.result().retry_after_ms)

    async def drain(self, seconds: float) -> None:
        """Leave in order: the relay answers the PING after it has read the GOAWAY, so what it
        opened before is here by then."""
        if self.session.state is not State.OPEN:
            return
        self.session.leave(Farewell("drain"))
        heard: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.link.on_pong = lambda: None if heard.done() else heard.set_result(None)
        self.link.ping(self.session)
        try:
            async with asyncio.timeout(seconds):
                await heard
                while self.session.streams:
                    self._empty.clear()
                    await self._empty.wait()
        except TimeoutError:
            pass
        await self.link.close(Reason(Close.GONE, "drained"))

    # What the session calls.

    def greeted(self, frame: Frame) -> None:
        welcome = document(frame, Welcome)
        if welcome.v != VERSION:
            raise Violation(f"version {welcome.v}", Close.VERSION)
        self.session.settle(welcome.window, welcome.max_streams)
        self.welcome = welcome
        self._welcomed(welcome)

    def opened(self, stream: Stream, opening: Opening) -> None:
        self._backend.opened(stream, opening)

    def leaving(self, farewell: Farewell) -> None:
        if not self.away.done():
            self.away.set_result(farewell)

    def emptied(self) -> None:
        self._empty.set()

    def ponged(self, payload: bytes) -> None:
        self.link.ponged(payload)

    def wake(self) -> None:
        self.link.wake()


def _code(error: BaseException) -> int:
    return _STATUS.get(error.status, 0) if isinstance(error, TurnedAway) else 0


def _said(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {CONNECT_SECONDS:.0f} s"
    return str(error) or type(error).__name__


def _explained(reason: Reason) -> str:
    return f"{reason.msg} ({reason.code})" if reason.code else reason.msg
