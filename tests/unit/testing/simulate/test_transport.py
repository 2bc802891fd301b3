"""The way of a simulated process to the server: it breaks when it is told to, and only then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.core.errors import ConnectError, DeadlineExceeded
from quintant.testing.loop import advance, settle
from quintant.testing.simulate.transport import ProcessTransport

WATCH = ApiRequest("GET", "/api/v1/pods")


class Lines:
    """A server whose watches say what is put into a queue."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def request(self, call: ApiRequest) -> ApiResponse:
        return ApiResponse(200, b"{}")

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        yield ApiStream(200, self._chunks())

    async def close(self) -> None:
        return

    async def _chunks(self) -> AsyncIterator[bytes]:
        while (chunk := await self.queue.get()) is not None:
            yield chunk


class Reader:
    """Reads a watch to its end."""

    def __init__(self, transport: ProcessTransport) -> None:
        self.read: list[bytes] = []
        self.task = asyncio.ensure_future(self._follow(transport))

    async def _follow(self, transport: ProcessTransport) -> None:
        async with transport.stream(WATCH) as stream:
            async for chunk in stream.chunks:
                self.read.append(chunk)


async def test_a_watch_brings_what_the_server_says_to_its_end() -> None:
    lines = Lines()
    reader = Reader(ProcessTransport(lines))
    for chunk in (b"a", b"b", None):
        lines.queue.put_nowait(chunk)
        await advance(1)
    await reader.task
    assert reader.read == [b"a", b"b"]


async def test_every_watch_that_is_open_breaks_and_later_ones_do_not() -> None:
    lines = Lines()
    transport = ProcessTransport(lines)
    before = [Reader(transport) for _ in range(3)]
    await settle()
    transport.break_watches()
    transport.break_watches()
    after = Reader(transport)
    await settle()
    for reader in before:
        with pytest.raises(ConnectError):
            await reader.task
    assert not after.task.done()
    lines.queue.put_nowait(b"a")
    lines.queue.put_nowait(None)
    await after.task
    assert after.read == [b"a"]


async def test_a_watch_breaks_whose_reader_is_busy() -> None:
    lines = Lines()
    transport = ProcessTransport(lines)
    async with transport.stream(WATCH) as stream:
        lines.queue.put_nowait(b"a")
        assert await anext(stream.chunks) == b"a"
        transport.break_watches()
        lines.queue.put_nowait(b"b")
        with pytest.raises(ConnectError):
            await anext(stream.chunks)


async def test_who_reads_a_watch_can_be_cancelled() -> None:
    reader = Reader(ProcessTransport(Lines()))
    await settle()
    reader.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader.task


async def test_who_is_cut_off_reaches_nothing_until_it_is_connected_again() -> None:
    transport = ProcessTransport(Lines())
    transport.cut_off()
    with pytest.raises(DeadlineExceeded):
        await transport.request(WATCH)
    with pytest.raises(ConnectError):
        async with transport.stream(WATCH):
            pass
    transport.reconnect()
    assert (await transport.request(WATCH)).status == 200
