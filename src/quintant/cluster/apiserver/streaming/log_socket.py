"""wsstream.Reader: what a container prints, as binary messages of a WebSocket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from quintant.cluster.apiserver.streaming.websocket import WebSocketConnection
from quintant.http.connection import Connection

PROTOCOLS = ("binary.k8s.io", "")
"""What is spoken: also by a client that names no protocol."""


async def send_log(pieces: AsyncGenerator[bytes, None], connection: Connection) -> None:
    """Send all there is, and what comes, until the client leaves."""
    client = WebSocketConnection(connection)
    sending = asyncio.ensure_future(_send(client, pieces))
    leaving = asyncio.ensure_future(_read(client))
    try:
        await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sending, leaving):
            task.cancel()
        await asyncio.gather(sending, leaving, return_exceptions=True)


async def _send(client: WebSocketConnection, pieces: AsyncGenerator[bytes, None]) -> None:
    async with aclosing(pieces):
        async for piece in pieces:
            await client.send_payload(piece)
    await client.close()


async def _read(client: WebSocketConnection) -> None:
    """Wait for the client's end; what it says before is nothing to a log."""
    async for _ in client.payloads():
        pass
