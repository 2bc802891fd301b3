from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from quintant.agents.multiplex.connection import (
    BACKLOG_FRAMES,
    BATCH_BYTES,
    GREETING_SECONDS,
    Keepalive,
    MultiplexConnection,
)
from quintant.agents.multiplex.session import SessionState
from quintant.agents.multiplex.socket import MessageHandler
from quintant.agents.multiplex.websocket import Parts
from quintant.wire.portal import (
    Close,
    Frame,
    FrameKind,
    Reason,
    close_reason,
    data,
    decode,
    encode,
    read_reason,
)
from unit.agents.multiplex.ends import End

PULSE = Keepalive(ping=1.0, dead=3.0)


class Wire:
    """A WebSocket whose other end is the test."""

    def __init__(self) -> None:
        self.ear: MessageHandler | None = None
        self.sent: list[list[Frame]] = []
        self.closed: Reason | None = None
        self.full = self.aborted = self.limited = False

    def limit_unread(self) -> None:
        self.limited = True

    def attach(self, handler: MessageHandler) -> None:
        self.ear = handler

    def send(self, payloads: Sequence[Parts]) -> bool:
        self.sent.append([decode(b"".join(parts)) for parts in payloads])
        return not self.full

    async def close(self, reason: Reason) -> None:
        self.closed = read_reason(reason.code, close_reason(reason))

    def abort(self) -> None:
        self.aborted = True

    @property
    def frames(self) -> list[Frame]:
        return [frame for some in self.sent for frame in some]

    async def heard_by(self) -> MessageHandler:
        await asyncio.sleep(0)
        assert self.ear is not None
        return self.ear


class ConnectionEnd(End):
    """An end whose connection sends."""

    def __init__(self, connection: MultiplexConnection) -> None:
        self.link = connection
        super().__init__(relay=True)

    def wake(self) -> None:
        self.link.wake()

    def ponged(self, payload: bytes) -> None:
        self.link.ponged(payload)


@pytest.fixture
def wire() -> Wire:
    return Wire()


def side(wire: Wire, greeted: bool = True) -> ConnectionEnd:
    end = ConnectionEnd(MultiplexConnection(wire, PULSE))
    if greeted:
        end.session.agree(1000, 10)
    return end


async def _elapsed(end: ConnectionEnd) -> tuple[Reason, float]:
    loop = asyncio.get_running_loop()
    began = loop.time()
    return await end.link.run(end.session), loop.time() - began


async def test_a_silent_peer_is_given_up_in_time(wire: Wire) -> None:
    end = side(wire)
    handler = end.open()
    reason, took = await _elapsed(end)
    assert took == PULSE.dead
    assert "no sign of life" in reason.msg
    assert handler.failure is not None
    assert end.session.state is SessionState.CLOSED


async def test_any_frame_counts_as_life(wire: Wire) -> None:
    end = side(wire)

    async def chatter() -> None:
        for _ in range(20):
            await asyncio.sleep(2.5)
            (await wire.heard_by()).message(encode(Frame(0x80)))

    async with asyncio.TaskGroup() as group:
        group.create_task(chatter())
        _, took = await _elapsed(end)
    assert took >= 50
    assert wire.aborted


async def test_pings_are_sent_and_their_round_trip_is_known(wire: Wire) -> None:
    end = side(wire)

    async def answer() -> None:
        await asyncio.sleep(1.25)
        ping = next(frame for frame in wire.frames if frame.kind == FrameKind.PING)
        handler = await wire.heard_by()
        handler.message(encode(Frame(FrameKind.PONG, 0, ping.payload)))
        handler.over(Reason(1001))

    async with asyncio.TaskGroup() as group:
        group.create_task(answer())
        await end.link.run(end.session)
    assert end.link.round_trip == pytest.approx(0.25)


@pytest.mark.parametrize(("seconds", "limited"), [(0.001, True), (0.05, False)])
async def test_only_a_near_peer_has_little_on_its_way(
    wire: Wire, seconds: float, limited: bool
) -> None:
    end = side(wire)

    async def answer() -> None:
        await asyncio.sleep(1 + seconds)
        ping = next(frame for frame in wire.frames if frame.kind == FrameKind.PING)
        handler = await wire.heard_by()
        handler.message(encode(Frame(FrameKind.PONG, 0, ping.payload)))
        handler.over(Reason(1001))

    async with asyncio.TaskGroup() as group:
        group.create_task(answer())
        await end.link.run(end.session)
    assert wire.limited is limited


async def test_a_peer_that_never_greets_is_turned_away(wire: Wire) -> None:
    reason, took = await _elapsed(side(wire, greeted=False))
    assert GREETING_SECONDS <= took <= GREETING_SECONDS + PULSE.ping
    assert reason.code == Close.BAD_FRAME
    assert wire.closed is not None
    assert wire.closed.msg == "no greeting in time"


async def _told(wire: Wire, tell: Callable[[MessageHandler], None]) -> Reason:
    """Why a connection ended after its handler was told something."""
    end = side(wire)
    async with asyncio.TaskGroup() as group:
        run = group.create_task(end.link.run(end.session))
        tell(await wire.heard_by())
    return run.result()


async def test_a_peer_that_breaks_the_rules_is_told_why(wire: Wire) -> None:
    reason = await _told(wire, lambda handler: handler.message(b"nonsense"))
    assert wire.closed is not None
    assert (wire.closed.code, wire.closed.msg) == (Close.BAD_FRAME, reason.msg)


async def test_what_is_no_binary_message_is_no_frame(wire: Wire) -> None:
    reason = await _told(wire, lambda handler: handler.nonsense("a text message"))
    assert wire.closed == reason == Reason(Close.BAD_FRAME, "a text message")


async def test_the_last_words_of_a_peer_are_heard(wire: Wire) -> None:
    last = Reason(Close.UNAUTHENTICATED, "no token", 1500)
    assert await _told(wire, lambda handler: handler.over(last)) == last
    assert wire.closed is None


async def test_a_reset_is_sent_before_the_connection_of_a_peer_that_sends_too_much_ends(
    wire: Wire,
) -> None:
    end = side(wire)
    stream = end.open().stream
    async with asyncio.TaskGroup() as group:
        group.create_task(end.link.run(end.session))
        (await wire.heard_by()).message(data(stream.id, b"x" * 1001))
    kinds = [frame.kind for frame in wire.frames]
    assert kinds == [FrameKind.OPEN, FrameKind.RST]
    assert wire.closed is not None
    assert wire.closed.code == Close.BAD_FRAME


async def test_frames_of_one_turn_leave_together_and_large_ones_in_turns(wire: Wire) -> None:
    end = side(wire)
    end.session.agree(4 * BATCH_BYTES, 10)
    for _ in range(2):
        end.open().stream.send(b"x" * BATCH_BYTES)
    async with asyncio.TaskGroup() as group:
        group.create_task(end.link.run(end.session))
        await asyncio.sleep(0.5)
        (await wire.heard_by()).over(Reason(1001))
    assert [frame.kind for frame in wire.sent[0][:2]] == [FrameKind.OPEN, FrameKind.OPEN]
    assert len(wire.sent) > 1
    assert sum(len(frame.payload) for frame in wire.frames) > 2 * BATCH_BYTES


async def test_nothing_is_sent_while_there_is_no_room(wire: Wire) -> None:
    end = side(wire)
    wire.full = True
    end.open()
    async with asyncio.TaskGroup() as group:
        group.create_task(end.link.run(end.session))
        handler = await wire.heard_by()
        await asyncio.sleep(0.25)
        assert not wire.sent
        wire.full = False
        handler.writable()
        await asyncio.sleep(0.25)
        assert wire.frames
        handler.over(Reason(1001))


async def test_a_peer_that_asks_and_reads_no_answer_is_given_up(wire: Wire) -> None:
    wire.full = True

    def flood(handler: MessageHandler) -> None:
        for _ in range(BACKLOG_FRAMES + 1):
            handler.message(encode(Frame(FrameKind.PING, 0, bytes(8))))

    reason = await _told(wire, flood)
    assert reason.code == Close.LIMIT
