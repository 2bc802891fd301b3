"""Drives a session over a WebSocket, with keepalive.

The same on both ends. `run` returns when the connection is over and says why; every stream of the
session has failed by then. A peer that sends nothing at all for `dead` seconds is given up: any
frame counts as life, so a busy connection is not probed to death.

Frames that become ready in one turn of the loop leave together: one write, few TLS records.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from quintant.agents.multiplex.outgoing import Outgoing
from quintant.agents.multiplex.session import ProtocolViolation, SessionState
from quintant.agents.multiplex.socket import MessageHandler
from quintant.agents.multiplex.websocket import Parts
from quintant.wire.portal import Close, Reason

GREETING_SECONDS = 5.0
"""A peer that has not greeted by then is none of ours."""
BATCH_BYTES = 128 * 1024
"""Of frames that leave together; then others have their turn."""
BACKLOG_FRAMES = 4096
"""Control frames that wait: a peer that keeps asking and reads no answer is given up."""
NEAR_SECONDS = 0.005
"""From a peer as near as that a short buffer takes 50 MB/s: in a longer one, what has its turn
would only wait behind megabytes of what had it before."""
_STAMP = struct.Struct("!d")


@dataclass(frozen=True, slots=True)
class Keepalive:
    """How often a peer is asked for a sign of life, and when it counts as dead."""

    ping: float = 1.0
    dead: float = 3.0


class MessageTransport(Protocol):
    """A WebSocket, of either side."""

    @property
    def full(self) -> bool: ...
    def attach(self, handler: MessageHandler) -> None: ...
    def send(self, payloads: Sequence[Parts]) -> bool: ...
    async def close(self, reason: Reason) -> None: ...
    def abort(self) -> None: ...
    def limit_unread(self) -> None: ...


class FramedSession(Protocol):
    """What is driven: ours (`session`), or the one of another protocol."""

    @property
    def state(self) -> SessionState: ...
    @property
    def outgoing(self) -> Outgoing: ...
    def receive(self, raw: bytes) -> None: ...
    def ping(self, stamp: bytes) -> None: ...
    def lose(self, why: str) -> None: ...


class MultiplexConnection:
    """A session at work. `wake` it when the session has something to send."""

    def __init__(self, socket: MessageTransport, keepalive: Keepalive) -> None:
        self._socket, self._keepalive = socket, keepalive
        self._loop = asyncio.get_running_loop()
        self._session: FramedSession | None = None
        self._ended: asyncio.Future[Reason] = self._loop.create_future()
        self._heard = self._loop.time()
        self._scheduled = self._broken = False
        self._stalled_since = 0.0
        self.round_trip: float = 0.0
        """Seconds of the last PING and its PONG."""
        self.stalled: float = 0.0
        """Seconds that frames waited for the network."""
        self.on_pong: Callable[[], None] | None = None

    def wake(self) -> None:
        """There is something to send."""
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._flush)

    def ponged(self, payload: bytes) -> None:
        """Our PING was answered."""
        (sent,) = _STAMP.unpack(payload)
        trip = self._loop.time() - sent
        if 0 <= trip <= self._keepalive.dead:
            self.round_trip = trip
        if trip < NEAR_SECONDS:
            self._socket.limit_unread()
        if self.on_pong is not None:
            self.on_pong()

    def ping(self, session: FramedSession) -> None:
        """Ask for a sign of life."""
        session.ping(_STAMP.pack(self._loop.time()))

    async def run(self, session: FramedSession) -> Reason:
        """Work until the connection is over; why it is."""
        self._session, born = session, self._loop.time()
        self._socket.attach(self)
        self.wake()
        reason = Reason(Close.GONE, "cancelled")
        try:
            while not self._ended.done():
                await self._pause()
                self._beat(session, self._loop.time() - born)
            reason = self._ended.result()
        finally:
            session.lose(reason.msg)
        if self._broken:
            await self.close(reason)
        return reason

    async def close(self, reason: Reason) -> None:
        """Close the WebSocket and tell why, unless it is gone already."""
        self._flush()
        await self._socket.close(reason)

    def give_up(self, reason: Reason) -> None:
        """The peer breaks the rules, or may not stay, and reads so."""
        self._broken = True
        self.over(reason)

    # What the socket calls.

    def message(self, payload: bytes) -> None:
        self._heard = self._loop.time()
        if self._session is not None and not self._ended.done():
            try:
                self._session.receive(payload)
            except ProtocolViolation as violation:
                self.give_up(Reason(violation.code, str(violation)))
            if self._session.outgoing.backlog > BACKLOG_FRAMES:
                self.give_up(Reason(Close.LIMIT, "answers are not read"))

    def nonsense(self, what: str) -> None:
        self.give_up(Reason(Close.BAD_FRAME, what))

    def over(self, reason: Reason) -> None:
        if not self._ended.done():
            self._ended.set_result(reason)

    def writable(self) -> None:
        self.stalled += self._loop.time() - self._stalled_since
        self.wake()

    def _flush(self) -> None:
        """Send what there is, as far as there is room."""
        self._scheduled = False
        session = self._session
        if session is None or self._socket.full:
            return
        messages, size = session.outgoing.batch(BATCH_BYTES)
        if messages and not self._socket.send(messages):
            self._stalled_since = self._loop.time()
        elif size >= BATCH_BYTES:
            self.wake()

    async def _pause(self) -> None:
        """Wait for the next beat. Time in which this process did not run was no silence: what came
        meanwhile is still to be read."""
        began = self._loop.time()
        await asyncio.wait((self._ended,), timeout=self._keepalive.ping)
        self._heard += max(0.0, self._loop.time() - began - self._keepalive.ping)

    def _beat(self, session: FramedSession, age: float) -> None:
        """Ask for a sign of life, and notice when there is none."""
        silent = self._loop.time() - self._heard
        if self._ended.done():
            return
        if session.state is SessionState.GREETING:
            if age >= GREETING_SECONDS:
                self.give_up(Reason(Close.BAD_FRAME, "no greeting in time"))
        elif silent >= self._keepalive.dead:
            self.over(Reason(0, f"no sign of life for {silent:.0f} s"))
            self._socket.abort()
        else:
            self.ping(session)
