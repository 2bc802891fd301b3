from __future__ import annotations

import asyncio

import pytest
from aiohttp import WSMessage, WSMsgType

from quintant.agents.mux.link import GREETING_SECONDS, Link, Pulse
from quintant.agents.mux.session import State
from quintant.wire.portal import (
    Close,
    Frame,
    Kind,
    Opening,
    Reason,
    close_reason,
    decode,
    encode,
    read_reason,
)
from unit.agents.mux.ends import End

PULSE = Pulse(ping=1.0, dead=3.0)


class Wire:
    """A WebSocket whose other end is the test."""

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[WSMessage] = asyncio.Queue()
        self.sent: list[Frame] = []
        self.closed: Reason | None = None
        self.broken = False

    async def receive(self) -> WSMessage:
        return await self.incoming.get()

    async def send_bytes(self, data: bytes) -> None:
        if self.broken:
            raise ConnectionResetError
        self.sent.append(decode(data))

    async def close(self, *, code: int = 1000, message: bytes = b"") -> bool:
        self.closed = read_reason(code, message)
        return True

    @property
    def close_code(self) -> int | None:
        return None

    def say(self, raw: bytes) -> None:
        self.incoming.put_nowait(WSMessage(WSMsgType.BINARY, raw, None))

    def end(self, reason: Reason) -> None:
        raw = close_reason(reason).decode()
        self.incoming.put_nowait(WSMessage(WSMsgType.CLOSE, reason.code, raw))


class Side(End):
    """An end whose link sends."""

    def __init__(self, link: Link) -> None:
        self.link = link
        super().__init__(relay=True)

    def wake(self) -> None:
        self.link.wake()

    def ponged(self, payload: bytes) -> None:
        self.link.ponged(payload)


@pytest.fixture
def wire() -> Wire:
    return Wire()


def side(wire: Wire, greeted: bool = True) -> Side:
    end = Side(Link(wire, PULSE))
    if greeted:
        end.session.settle(1000, 10)
    return end


async def _elapsed(end: Side) -> tuple[Reason, float]:
    loop = asyncio.get_running_loop()
    began = loop.time()
    return await end.link.run(end.session), loop.time() - began


async def test_a_silent_peer_is_given_up_in_time(wire: Wire) -> None:
    end = side(wire)
    ear = end.open()
    reason, took = await _elapsed(end)
    assert took == PULSE.dead
    assert "no sign of life" in reason.msg
    assert ear.failure is not None
    assert end.session.state is State.CLOSED


async def test_any_frame_counts_as_life(wire: Wire) -> None:
    end = side(wire)

    async def chatter() -> None:
        for _ in range(20):
            await asyncio.sleep(2.5)
            wire.say(encode(Frame(0x80)))

    async with asyncio.TaskGroup() as group:
        group.create_task(chatter())
        _, took = await _elapsed(end)
    assert took >= 50


async def test_pings_are_sent_and_their_round_trip_is_known(wire: Wire) -> None:
    end = side(wire)

    async def answer() -> None:
        await asyncio.sleep(1.25)
        ping = next(frame for frame in wire.sent if frame.kind == Kind.PING)
        wire.say(encode(Frame(Kind.PONG, 0, ping.payload)))
        await asyncio.sleep(0.01)
        wire.end(Reason(1001))

    async with asyncio.TaskGroup() as group:
        group.create_task(answer())
        await end.link.run(end.session)
    assert end.link.round_trip == pytest.approx(0.25)


async def test_a_peer_that_never_greets_is_turned_away(wire: Wire) -> None:
    reason, took = await _elapsed(side(wire, greeted=False))
    assert GREETING_SECONDS <= took <= GREETING_SECONDS + PULSE.ping
    assert reason.code == Close.BAD_FRAME
    assert wire.closed is not None
    assert wire.closed.msg == "no greeting in time"


async def test_a_peer_that_breaks_the_rules_is_told_why(wire: Wire) -> None:
    wire.say(b"nonsense")
    reason, _ = await _elapsed(side(wire))
    assert wire.closed is not None
    assert (wire.closed.code, wire.closed.msg) == (Close.BAD_FRAME, reason.msg)


async def test_text_is_no_frame(wire: Wire) -> None:
    wire.incoming.put_nowait(WSMessage(WSMsgType.TEXT, "hello", None))
    reason, _ = await _elapsed(side(wire))
    assert reason.code == Close.BAD_FRAME


async def test_the_last_words_of_a_peer_are_heard_though_writing_failed(wire: Wire) -> None:
    end = side(wire)
    wire.broken = True
    end.session.open(Opening(1, "", ""))
    wire.end(Reason(Close.UNAUTHENTICATED, "no token", 1500))
    assert await end.link.run(end.session) == Reason(Close.UNAUTHENTICATED, "no token", 1500)
