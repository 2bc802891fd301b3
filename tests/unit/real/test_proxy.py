"""Promises of tests/real/proxy.py, the proxy that real scenarios put before an API server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from real.proxy import Proxy

pytestmark = pytest.mark.realtime

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def echo() -> AsyncIterator[Proxy]:
    """A proxy before a server that says back what it hears."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1000):
            writer.write(data)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server, Proxy.before("127.0.0.1", server.sockets[0].getsockname()[1]) as proxy:
        yield proxy


@asynccontextmanager
async def dialled(proxy: Proxy) -> AsyncIterator[Ends]:
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def said(ends: Ends, word: bytes = b"hello") -> bytes:
    ends[1].write(word)
    async with asyncio.timeout(5):
        return await ends[0].readexactly(len(word))


async def silent(ends: Ends) -> bool:
    try:
        async with asyncio.timeout(0.05):
            await ends[0].read(1)
    except TimeoutError:
        return True
    return False


async def test_bytes_pass_and_the_end_is_passed_on() -> None:
    async with echo() as proxy, dialled(proxy) as ends:
        assert await said(ends) == b"hello"
        assert (proxy.open, proxy.accepted) == (1, 1)
        ends[1].write_eof()
        async with asyncio.timeout(5):
            assert await ends[0].read() == b""


async def test_stalled_connections_old_and_new_are_open_and_silent_until_resumed() -> None:
    async with echo() as proxy, dialled(proxy) as old:
        assert await said(old) == b"hello"
        proxy.stall()
        async with dialled(proxy) as new:
            for ends in (old, new):
                ends[1].write(b"anyone")
                assert await silent(ends)
            proxy.resume()
            for ends in (old, new):
                async with asyncio.timeout(5):
                    assert await ends[0].readexactly(6) == b"anyone"


async def test_silenced_connections_stay_open_and_silent_and_new_ones_work() -> None:
    async with echo() as proxy, dialled(proxy) as old:
        assert await said(old) == b"hello"
        assert proxy.silence() == 1
        old[1].write(b"anyone")
        async with dialled(proxy) as new:
            assert await said(new) == b"hello"
        assert await silent(old)
        proxy.resume()
        assert await silent(old)


async def test_cut_resets_open_connections_and_lets_new_ones_in() -> None:
    async with echo() as proxy, dialled(proxy) as old:
        assert await said(old) == b"hello"
        assert proxy.cut() == 1
        with pytest.raises(ConnectionResetError):
            await said(old)
        async with dialled(proxy) as new:
            assert await said(new) == b"hello"


async def test_refused_connections_are_turned_away_until_resumed() -> None:
    async with echo() as proxy, dialled(proxy) as old:
        assert await said(old) == b"hello"
        proxy.refuse()
        async with dialled(proxy) as new:
            with pytest.raises(ConnectionResetError):
                await said(new)
        assert await said(old) == b"hello"
        proxy.resume()
        async with dialled(proxy) as new:
            assert await said(new) == b"hello"


async def test_server_that_is_gone_resets_the_client() -> None:
    async with echo() as proxy:
        pass
    async with Proxy.before("127.0.0.1", proxy.port) as lonely, dialled(lonely) as ends:
        with pytest.raises(ConnectionResetError):
            await said(ends)
