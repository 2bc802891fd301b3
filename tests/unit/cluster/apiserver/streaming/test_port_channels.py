"""Ports of a pod over channels of one WebSocket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from quintant.cluster.apiserver.meta.status import StatusError
from quintant.cluster.apiserver.streaming.port_channels import ChannelPortForward, read_ports

pytestmark = pytest.mark.realtime


class Socket:
    """A WebSocket of which a test has the other end."""

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[tuple[int, bytes] | None] = asyncio.Queue()
        self.heard: dict[int, bytes] = {}
        self.news = asyncio.Event()
        self.closed = False

    async def messages(self) -> AsyncIterator[tuple[int, bytes]]:
        while (found := await self.incoming.get()) is not None:
            yield found

    async def send(self, channel: int, payload: bytes) -> None:
        self.heard[channel] = self.heard.get(channel, b"") + payload
        self.news.set()

    async def close(self) -> None:
        self.closed = True

    async def until(self, channel: int, text: bytes) -> None:
        while not self.heard.get(channel, b"").endswith(text):
            self.news.clear()
            await self.news.wait()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1000):
        writer.write(data.upper())
        if data.endswith(b"end"):
            break
    writer.close()


async def test_each_port_has_two_channels_that_begin_with_its_number() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    bound = server.sockets[0].getsockname()[1]
    socket = Socket()

    async def dial(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if port == 1:
            raise ConnectionRefusedError("refused")
        return await asyncio.open_connection("127.0.0.1", bound)

    session = ChannelPortForward(socket, dial, "p", (258, 1, 80))  # type: ignore[arg-type]
    async with server, asyncio.timeout(60):
        task = asyncio.ensure_future(session.serve())
        socket.incoming.put_nowait((0, b"abc"))
        socket.incoming.put_nowait((2, b"to nobody"))
        socket.incoming.put_nowait((9, b"no channel"))
        await socket.until(0, b"\x02\x01ABC")
        await socket.until(3, b"\x01\x00error forwarding port 1 to pod p: refused")
        for channel in (0, 4):
            socket.incoming.put_nowait((channel, b"end"))
        await task
    assert socket.heard[0] == b"\x02\x01ABCEND"
    assert socket.heard[4] == b"\x50\x00END"
    assert socket.heard[1] == b"\x02\x01"
    assert socket.closed


async def test_a_session_ends_with_its_client() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    bound = server.sockets[0].getsockname()[1]
    socket = Socket()

    async def dial(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", bound)

    session = ChannelPortForward(socket, dial, "p", (80,))  # type: ignore[arg-type]
    async with server, asyncio.timeout(60):
        task = asyncio.ensure_future(session.serve())
        socket.incoming.put_nowait((0, b"abc"))
        await socket.until(0, b"ABC")
        socket.incoming.put_nowait(None)
        await task


@pytest.mark.parametrize(
    "query", [None, "", "0", "x", "80,", "65536", "80,-1", ",".join(["80"] * 129)]
)
async def test_other_ports_are_refused(query: str | None) -> None:
    with pytest.raises(StatusError) as refused:
        read_ports(query)
    assert refused.value.code == 400


async def test_ports_are_read_in_their_order() -> None:
    assert read_ports("8080,80") == (8080, 80)
