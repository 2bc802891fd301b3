"""Drives a session over a WebSocket: one reader, one writer, and a pulse.

The same on both ends. `run` returns when the connection is over and says why; every stream of the
session has failed by then. A peer that sends nothing at all for `dead` seconds is given up: any
frame counts as life, so a busy connection is not probed to death.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from aiohttp import ClientConnectionError, WSMessage, WSMsgType

from quintant.agents.mux.session import Session, State, Violation
from quintant.wire.portal import (
    Close,
    Frame,
    Kind,
    Reason,
    close_reason,
    read_reason,
)

GREETING_SECONDS = 5.0
"""A peer that has not greeted by then is none of ours."""
CLOSE_SECONDS = 2.0
"""For the last words of a connection that is given up."""
_STAMP = struct.Struct("!d")
E = TypeVar("E", bound=BaseException)


@dataclass(frozen=True, slots=True)
class Pulse:
    """How often a peer is asked for a sign of life, and when it counts as dead."""

    ping: float = 1.0
    dead: float = 3.0


class Socket(Protocol):
    """A WebSocket of aiohttp, of either side."""

    async def receive(self) -> WSMessage: ...
    async def send_bytes(self, data: bytes) -> None: ...
    async def close(self, *, code: int = 1000, message: bytes = b"") -> bool: ...
    @property
    def close_code(self) -> int | None: ...


class Ended(Exception):
    """The connection is over."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.msg)
        self.reason = reason


class Link:
    """A session at work. `wake` it when the session has something to send."""

    def __init__(self, socket: Socket, pulse: Pulse) -> None:
        self._socket, self._pulse = socket, pulse
        self._wanted = asyncio.Event()
        self._heard = asyncio.get_running_loop().time()
        self.round_trip = 0.0
        """Seconds of the last PING and its PONG."""
        self.stalled = 0.0
        """Seconds that the writer waited for the network."""
        self.on_pong: Callable[[], None] | None = None

    def wake(self) -> None:
        """There is something to send."""
        self._wanted.set()

    def ponged(self, payload: bytes) -> None:
        """Our PING was answered."""
        (sent,) = _STAMP.unpack(payload)
        trip = asyncio.get_running_loop().time() - sent
        if 0 <= trip <= self._pulse.dead:
            self.round_trip = trip
        if self.on_pong is not None:
            self.on_pong()

    def ping(self, session: Session) -> None:
        """Ask for a sign of life."""
        session.control(Frame(Kind.PING, 0, _STAMP.pack(asyncio.get_running_loop().time())))

    async def run(self, session: Session) -> Reason:
        """Work until the connection is over; why it is."""
        reason = Reason(Close.GONE, "ended")
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._read(session))
                group.create_task(self._write(session))
                group.create_task(self._watch(session))
        except* Ended as ended:
            reason = _first(ended).reason
        except* Violation as broken:
            violation = _first(broken)
            reason = Reason(violation.code, str(violation))
            await self.close(reason)
        except* (ConnectionError, ClientConnectionError) as lost:
            reason = Reason(0, f"connection lost: {_first(lost)}")
        finally:
            session.lose(reason.msg)
        return reason

    async def close(self, reason: Reason) -> None:
        """Close the WebSocket and tell why, unless it is gone already."""
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._socket.close(code=reason.code, message=close_reason(reason))
        except (TimeoutError, ConnectionError, ClientConnectionError):
            return

    async def _read(self, session: Session) -> None:
        loop = asyncio.get_running_loop()
        while True:
            message = await self._socket.receive()
            self._heard = loop.time()
            if message.type is WSMsgType.BINARY:
                session.receive(message.data)
            elif message.type is WSMsgType.TEXT:
                raise Violation("a text message")
            elif message.type is WSMsgType.ERROR:
                raise Violation(str(message.data))
            elif message.type is WSMsgType.CLOSE:
                raise Ended(read_reason(message.data, message.extra))
            else:
                raise Ended(Reason(self._socket.close_code or 0, "connection lost"))

    async def _write(self, session: Session) -> None:
        loop = asyncio.get_running_loop()
        while True:
            raw = session.emit()
            if raw is None:
                self._wanted.clear()
                await self._wanted.wait()
                continue
            began = loop.time()
            try:
                await self._socket.send_bytes(raw)
            except (ConnectionError, ClientConnectionError):
                return  # The reader learns why: the other end's last words may still be there.
            self.stalled += loop.time() - began

    async def _watch(self, session: Session) -> None:
        """Ask for signs of life, and notice when there are none."""
        loop = asyncio.get_running_loop()
        born = loop.time()
        while True:
            await asyncio.sleep(self._pulse.ping)
            silent = loop.time() - self._heard
            if session.state is State.GREETING:
                if loop.time() - born >= GREETING_SECONDS:
                    raise Violation("no greeting in time")
            elif silent >= self._pulse.dead:
                raise Ended(Reason(0, f"no sign of life for {silent:.0f} s"))
            else:
                self.ping(session)


def _first(group: BaseExceptionGroup[E]) -> E:
    found: E | BaseExceptionGroup[E] = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found
