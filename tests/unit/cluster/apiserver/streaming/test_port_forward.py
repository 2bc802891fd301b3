"""Ports of a pod over a client's connection: pairs of streams, bytes both ways, and refusals."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from quintant.cluster.apiserver.streaming.port_forward import CONNECTIONS, PortForwardSession
from quintant.cluster.apiserver.streaming.spdy import SpdyConnection
from quintant.http.spdy_frames import (
    FrameType,
    SpdyFrame,
    SpdyReader,
    SpdyWriter,
    encode_data,
    encode_number,
)

pytestmark = pytest.mark.realtime


class Carrier:
    """A connection of which a test has the other end."""

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[bytes] = asyncio.Queue()
        self.writer, self._reader = SpdyWriter(), SpdyReader()
        self.heard: list[SpdyFrame] = []
        self.news = asyncio.Event()

    async def read(self) -> bytes:
        return await self.incoming.get()

    async def write(self, raw: bytes) -> None:
        self.heard += self._reader.feed(raw)
        self.news.set()

    def say(self, *frames: bytes) -> None:
        for each in frames:
            self.incoming.put_nowait(each)

    def pair(self, at: int, port: str = "80") -> None:
        """Begin a connection whose error stream has a number, and the data stream the next."""
        for stream, kind in ((at, "error"), (at + 2, "data")):
            headers = {"streamtype": kind, "port": port, "requestid": str(at)}
            self.say(self.writer.begin(stream, headers))

    async def until(self, frame: SpdyFrame) -> None:
        while frame not in self.heard:
            self.news.clear()
            await self.news.wait()


class Pod:
    """A program that answers what it is sent, in capitals, until that ends."""

    def __init__(self) -> None:
        self.ports: list[int] = []

    async def dial(self, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self.ports.append(port)
        if port == 1:
            raise ConnectionRefusedError("refused")
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1000):
            writer.write(data.upper())
        writer.close()

    port = 0


@asynccontextmanager
async def forwarding() -> AsyncIterator[tuple[Carrier, Pod]]:
    pod, carrier = Pod(), Carrier()
    server = await asyncio.start_server(pod.answer, "127.0.0.1", 0)
    pod.port = server.sockets[0].getsockname()[1]
    session = PortForwardSession(SpdyConnection(carrier), pod.dial, "p")
    async with server, asyncio.timeout(60):
        task = asyncio.ensure_future(session.serve())
        yield carrier, pod
        carrier.say(b"")
        await task


async def test_bytes_go_both_ways_and_each_side_ends_for_itself() -> None:
    async with forwarding() as (carrier, pod):
        carrier.pair(1)
        carrier.say(encode_data(3, b"hello"))
        await carrier.until(SpdyFrame(FrameType.DATA, 3, payload=b"HELLO"))
        carrier.say(encode_data(3, b"", last=True))
        await carrier.until(SpdyFrame(FrameType.DATA, 1, last=True))
    replies = [each.stream for each in carrier.heard if each.type is FrameType.SYN_REPLY]
    assert (replies, pod.ports) == ([1, 3], [80])
    assert SpdyFrame(FrameType.DATA, 3, last=True) in carrier.heard


async def test_two_connections_do_not_meet() -> None:
    async with forwarding() as (carrier, _):
        carrier.pair(1)
        carrier.pair(5)
        carrier.say(encode_data(7, b"second"), encode_data(3, b"first"))
        await carrier.until(SpdyFrame(FrameType.DATA, 3, payload=b"FIRST"))
        await carrier.until(SpdyFrame(FrameType.DATA, 7, payload=b"SECOND"))


async def test_a_port_that_does_not_answer_is_told_on_the_error_stream() -> None:
    async with forwarding() as (carrier, _):
        carrier.pair(1, port="1")
        await carrier.until(SpdyFrame(FrameType.DATA, 1, last=True))
    told = [each.payload for each in carrier.heard if each.payload]
    assert told == [b"error forwarding port 1 to pod p: refused"]


async def test_streams_that_make_no_sense_are_refused() -> None:
    async with forwarding() as (carrier, pod):
        for stream, headers in (
            (1, {}),
            (3, {"streamtype": "data", "port": "0"}),
            (5, {"streamtype": "data", "port": "70000"}),
            (7, {"streamtype": "other", "port": "80"}),
            (9, {"streamtype": "data", "port": "80", "requestid": "x"}),
            (11, {"streamtype": "data", "port": "80", "requestid": "x"}),
            (13, {"streamtype": "error", "port": "81", "requestid": "x"}),
        ):
            carrier.say(carrier.writer.begin(stream, headers))
        carrier.say(encode_number(FrameType.PING, 4), encode_data(99, b"nobody's"))
        await carrier.until(SpdyFrame(FrameType.PING, 4))
    refused = [each.stream for each in carrier.heard if each.type is FrameType.RST_STREAM]
    assert (refused, pod.ports) == ([1, 3, 5, 7, 11, 13], [])


async def test_there_are_so_many_connections_and_no_more() -> None:
    async with forwarding() as (carrier, _):
        for at in range(CONNECTIONS + 1):
            headers = {"streamtype": "data", "port": "80", "requestid": str(at)}
            carrier.say(carrier.writer.begin(2 * at + 1, headers))
        last = 2 * CONNECTIONS + 1
        await carrier.until(SpdyFrame(FrameType.RST_STREAM, last))
        headers = {"streamtype": "error", "port": "80", "requestid": "0"}
        carrier.say(carrier.writer.begin(last + 2, headers), encode_data(1, b"the first"))
        await carrier.until(SpdyFrame(FrameType.DATA, 1, payload=b"THE FIRST"))
    refused = [each.stream for each in carrier.heard if each.type is FrameType.RST_STREAM]
    assert refused == [last]


async def test_connections_that_end_before_they_began_make_room_for_others() -> None:
    async with forwarding() as (carrier, _):
        for at in range(1, 4 * CONNECTIONS + 5, 4):
            headers = {"port": "80", "requestid": str(at)}
            carrier.say(
                carrier.writer.begin(at, {**headers, "streamtype": "error"})
                + carrier.writer.begin(at + 2, {**headers, "streamtype": "data"})
                + encode_number(FrameType.RST_STREAM, at + 2, 5)
            )
        carrier.pair(4 * CONNECTIONS + 9)
        carrier.say(encode_data(4 * CONNECTIONS + 11, b"room"))
        await carrier.until(SpdyFrame(FrameType.DATA, 4 * CONNECTIONS + 11, payload=b"ROOM"))


async def test_a_stream_that_is_reset_ends_its_connection_alone() -> None:
    async with forwarding() as (carrier, _):
        carrier.pair(1)
        carrier.pair(5)
        carrier.say(encode_number(FrameType.RST_STREAM, 3, 5), encode_data(7, b"on"))
        await carrier.until(SpdyFrame(FrameType.DATA, 7, payload=b"ON"))


async def test_what_is_no_spdy_ends_the_session() -> None:
    async with forwarding() as (carrier, _):
        carrier.pair(1)
        carrier.say(b"GET / HTTP/1.1\r\n\r\n" + bytes(20), encode_data(3, b"late"))
