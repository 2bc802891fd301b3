"""Programs behind a service, and clients before it, for tests with real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from quintant.cluster.kubeproxy.routes import RealServer

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def program(talk: Talk, address: str = "127.0.0.1") -> AsyncIterator[RealServer]:
    """A server that talks to each of its clients, and then hangs up."""

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(served, address, 0)
    try:
        yield RealServer(*server.sockets[0].getsockname()[:2])
    finally:
        server.close()


def saying(word: bytes) -> Talk:
    """Says one word to everybody."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(word)
        await writer.drain()

    return talk


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Says what it hears, until it hears nothing more; then one last word."""
    while heard := await reader.read(65536):
        writer.write(heard)
        await writer.drain()
    writer.write(b"bye")
    await writer.drain()


async def heard(place: RealServer) -> bytes:
    """Everything that is said to whoever connects."""
    reader, writer = await asyncio.open_connection(*place)
    try:
        return await reader.read()
    finally:
        writer.close()
