"""A log as messages of a WebSocket: all of it, and no longer than the client stays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import cast

from quintant.agents.multiplex.websocket import FrameReader, Opcode, encode_frames
from quintant.cluster.apiserver.streaming.log_socket import send_log
from quintant.http.connection import Connection


class FakeConnection:
    """The other end of a client's connection."""

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[bytes] = asyncio.Queue()
        self.heard: list[tuple[int, bytes]] = []
        self._reader = FrameReader(False, 1000)

    async def read(self) -> bytes:
        return await self.incoming.get()

    async def write(self, raw: bytes) -> None:
        self.heard += [(op, bytes(payload)) for op, payload in self._reader.feed(raw)]


async def words(more: asyncio.Event) -> AsyncGenerator[bytes, None]:
    yield b"one\n"
    yield b"two\n"
    await more.wait()


async def test_a_log_is_sent_to_its_end() -> None:
    client, more = FakeConnection(), asyncio.Event()
    more.set()
    await send_log(words(more), cast(Connection, client))
    (first, second, (closing, _)) = client.heard
    assert (first, second) == ((Opcode.BINARY, b"one\n"), (Opcode.BINARY, b"two\n"))
    assert closing == Opcode.CLOSE


async def test_a_client_that_leaves_ends_a_log_that_is_followed() -> None:
    client, pieces = FakeConnection(), words(asyncio.Event())
    client.incoming.put_nowait(encode_frames(Opcode.BINARY, [(b"hello",)], lambda: b"\0\0\0\0"))
    client.incoming.put_nowait(b"")
    await send_log(pieces, cast(Connection, client))
    assert [payload for _, payload in client.heard] in ([], [b"one\n"], [b"one\n", b"two\n"])
    assert await anext(pieces, None) is None, "nobody reads on"
