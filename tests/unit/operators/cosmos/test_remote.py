"""Whatever a node sends, the answer is bounded in size and time, and other nodes are not slower."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

import patience
from quintant.operators.cosmos.remote import (
    HttpConnection,
    NodeConnection,
    NodeUnreachable,
    ask_status,
)

SENT = 100 * 1024 * 1024
MOST_KEPT = 4 * 1024 * 1024
"""Far less than what is sent: a few pieces on their way, and the machinery."""
CHUNK = b"x" * 65_536
OK = b"HTTP/1.1 200 OK\r\n"
STATUS = (
    b'{"result": {"node_info": {"network": "a"}, "sync_info": {"latest_block_height": "7", '
    b'"catching_up": false}}}'
)

pytestmark = pytest.mark.realtime
Talk = Callable[[asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def node(talk: Talk) -> AsyncIterator[HttpConnection]:
    """A node that says to every request what a test wants it to say."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                await talk(writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        connection = HttpConnection("127.0.0.1", server.sockets[0].getsockname()[1])
        try:
            yield connection
        finally:
            await connection.close()
            server.close()


async def answers(writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"Content-Length: %d\r\n\r\n%s" % (len(STATUS), STATUS))
    await writer.drain()


async def announces_too_much(writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"Content-Length: %d\r\n\r\n" % SENT)
    for _ in range(SENT // len(CHUNK)):
        writer.write(CHUNK)
        await writer.drain()


async def never_ends(writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"Transfer-Encoding: chunked\r\n\r\n")
    for _ in range(SENT // len(CHUNK)):
        writer.write(b"%x\r\n%s\r\n" % (len(CHUNK), CHUNK))
        await writer.drain()


async def has_an_endless_head(writer: asyncio.StreamWriter) -> None:
    writer.write(OK)
    for _ in range(SENT // len(CHUNK)):
        writer.write(b"a: %s\r\n" % CHUNK)
        await writer.drain()


async def trickles(writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"Content-Length: %d\r\n\r\n" % len(STATUS))
    for at in range(len(STATUS)):
        writer.write(STATUS[at : at + 1])
        await writer.drain()
        await asyncio.sleep(1)


class Hasty:
    """A connection to a node whose answers may take less time than usual."""

    def __init__(self, connection: NodeConnection, seconds: float) -> None:
        self._connection, self._seconds = connection, seconds

    async def get(self, path: str, query: dict[str, str], seconds: float) -> tuple[int, bytes]:
        return await self._connection.get(path, query, min(seconds, self._seconds))

    async def close(self) -> None:
        await self._connection.close()


@pytest.mark.parametrize("talk", [announces_too_much, never_ends, has_an_endless_head])
async def test_an_answer_of_a_hundred_megabytes_is_not_kept(talk: Talk) -> None:
    async with node(talk) as connection:
        tracemalloc.start()
        try:
            with pytest.raises(NodeUnreachable) as caught:
                await ask_status(connection)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert most < MOST_KEPT
    assert "\n" not in str(caught.value)


async def test_a_byte_a_second_is_no_answer_and_keeps_nobody_waiting() -> None:
    async with node(trickles) as slow, node(answers) as quick, asyncio.TaskGroup() as group:
        waiting = group.create_task(_refused(Hasty(slow, 0.5)))
        async with patience.within(5):
            for _ in range(20):
                assert (await ask_status(quick)).height == 7
        async with patience.within(5):
            assert await waiting


async def _refused(connection: NodeConnection) -> str:
    with pytest.raises(NodeUnreachable) as caught:
        await ask_status(connection)
    return str(caught.value)
