from __future__ import annotations

import asyncio
import socket

import pytest

from quintant.agents.multiplex.socket import CLOSE_SECONDS, EARLY_BYTES, HIGH_BYTES, WebSocket
from quintant.agents.multiplex.websocket import (
    FrameReader,
    Opcode,
    WebSocketMessage,
    encode_close,
    encode_frames,
)
from quintant.wire.portal import MESSAGE_BYTES, Reason, close_reason

MASK = b"\x05\x06\x07\x08"


class Line(asyncio.Transport):
    """A transport whose other end is the test."""

    def __init__(self) -> None:
        super().__init__()
        self.raw = b""
        self.closed = self.aborted = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.raw += data

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.aborted = True

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...

    def messages(self, masked: bool = False) -> list[WebSocketMessage]:
        return [
            WebSocketMessage(op, bytes(payload))
            for op, payload in FrameReader(masked, MESSAGE_BYTES).feed(self.raw)
        ]


class Heard:
    """An handler that remembers."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def message(self, payload: bytes | bytearray | memoryview) -> None:
        self.told.append(bytes(payload))

    def nonsense(self, what: str) -> None:
        self.told.append(("nonsense", what))

    def writable(self) -> None:
        self.told.append("writable")

    def over(self, reason: Reason) -> None:
        self.told.append(reason)


def said(op: Opcode, payload: bytes) -> bytes:
    """What a client sends."""
    return encode_frames(op, [(payload,)], lambda: MASK)


@pytest.fixture
async def line() -> Line:
    return Line()


async def server(line: Line) -> tuple[WebSocket, Heard]:
    socket, heard = WebSocket(), Heard()
    socket.connection_made(line)
    socket.attach(heard)
    return socket, heard


async def test_messages_are_told_as_they_come(line: Line) -> None:
    socket, heard = await server(line)
    socket.data_received(said(Opcode.BINARY, b"one") + said(Opcode.BINARY, b"two"))
    assert heard.told == [b"one", b"two"]
    assert socket.send([(b"three",), (b"four",)])
    assert [message.payload for message in line.messages()] == [b"three", b"four"]


async def test_a_client_masks_what_it_sends(line: Line) -> None:
    socket = WebSocket(lambda: MASK)
    socket.connection_made(line)
    socket.send([(b"secret",)])
    assert b"secret" not in line.raw
    assert line.messages(masked=True) == [WebSocketMessage(Opcode.BINARY, b"secret")]


async def test_what_follows_a_head_at_once_is_not_lost(line: Line) -> None:
    socket, heard = WebSocket(lambda: MASK), Heard()
    socket.connection_made(line)
    head = b"HTTP/1.1 101 Switching Protocols\r\n\r\n"
    waiting = asyncio.ensure_future(socket.head())
    await asyncio.sleep(0)
    socket.data_received(head[:10])
    await asyncio.sleep(0)
    socket.data_received(head[10:] + encode_frames(Opcode.BINARY, [(b"early",)], None))
    assert await waiting == head
    socket.attach(heard)
    assert heard.told == [b"early"]


async def test_a_connection_lost_within_the_head_is_an_error(line: Line) -> None:
    socket = WebSocket(lambda: MASK)
    socket.connection_made(line)
    socket.connection_lost(None)
    with pytest.raises(ConnectionResetError):
        await socket.head()
    heard = Heard()
    socket.attach(heard)
    assert heard.told == [Reason(0, "connection lost")]


async def test_a_peer_that_floods_its_handshake_is_cut_off(line: Line) -> None:
    socket = WebSocket()
    socket.connection_made(line)
    socket.data_received(bytes(EARLY_BYTES + 1))
    assert line.aborted


async def test_a_close_is_answered_and_told(line: Line) -> None:
    socket, heard = await server(line)
    reason = Reason(4503, "away", 1000)
    socket.data_received(said(Opcode.CLOSE, encode_close(reason.code, close_reason(reason))))
    assert heard.told == [reason]
    assert line.messages()[0].op == Opcode.CLOSE
    assert line.closed
    socket.send([(b"too late",)])
    assert len(line.messages()) == 1


async def test_a_ping_is_answered_unless_nobody_reads(line: Line) -> None:
    socket, _ = await server(line)
    socket.data_received(said(Opcode.PING, b"1"))
    socket.pause_writing()
    socket.data_received(said(Opcode.PING, b"2") * 1000)
    assert line.messages() == [WebSocketMessage(Opcode.PONG, b"1")]
    assert not socket.send([(b"x",)])


async def test_room_is_told(line: Line) -> None:
    socket, heard = await server(line)
    socket.pause_writing()
    socket.resume_writing()
    assert heard.told == ["writable"]


@pytest.mark.parametrize(
    "raw",
    [said(Opcode.TEXT, b"hello"), b"\x82\x01x", said(Opcode.BINARY, bytes(MESSAGE_BYTES + 1))],
)
async def test_nonsense_is_told(line: Line, raw: bytes) -> None:
    socket, heard = await server(line)
    socket.data_received(raw)
    assert [told[0] for told in heard.told if isinstance(told, tuple)] == ["nonsense"]


async def test_a_peer_that_does_not_answer_a_close_is_cut_off(line: Line) -> None:
    socket, _ = await server(line)
    loop = asyncio.get_running_loop()
    began = loop.time()
    await socket.close(Reason(1001, "drained"))
    assert loop.time() - began == CLOSE_SECONDS
    assert line.aborted
    assert line.messages()[0].op == Opcode.CLOSE


@pytest.mark.realtime
async def test_the_kernel_keeps_little_of_what_others_would_have_to_wait_for() -> None:
    """What it has taken, nothing can overtake: neither an urgent frame nor another visitor's."""
    made: asyncio.Future[WebSocket] = asyncio.get_running_loop().create_future()

    def arrived() -> WebSocket:
        made.set_result(WebSocket())
        return made.result()

    loop = asyncio.get_running_loop()
    listener = await loop.create_server(arrived, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    transport, near = await loop.create_connection(
        lambda: WebSocket(lambda: MASK), "127.0.0.1", port
    )
    own = transport.get_extra_info("socket")
    assert own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT) == HIGH_BYTES
    near.limit_unread()
    assert own.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) <= 2 * HIGH_BYTES
    near.abort()
    (await made).abort()
    near.limit_unread()
    listener.close()
    await listener.wait_closed()
