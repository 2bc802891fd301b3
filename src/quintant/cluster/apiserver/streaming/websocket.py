"""wsstream.Conn: messages of a WebSocket over a client's connection, one reader and many writers.

Who writes waits for the client to read: nothing piles up for one that does not. Pings are answered,
and a client that closes, leaves or sends what is no WebSocket ends the messages.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

from quintant.agents.multiplex.websocket import (
    FrameReader,
    Opcode,
    WebSocketError,
    accept_key,
    encode_close,
    encode_frames,
    valid_key,
)
from quintant.http.connection import Connection

MESSAGE_BYTES = 1024 * 1024
"""Of one message of a client; kubectl's have 32 KiB."""
NORMAL, PROTOCOL_ERROR = 1000, 1002
VERSION = "13"


def is_websocket(headers: Mapping[str, str]) -> bool:
    """Whether a request asks for a WebSocket."""
    return headers.get("upgrade", "").lower() == "websocket"


def offered_protocols(headers: Mapping[str, str]) -> list[str]:
    """The subprotocols that a client speaks."""
    return [each.strip() for each in headers.get("sec-websocket-protocol", "").split(",")]


def handshake_error(headers: Mapping[str, str]) -> str:
    """What is wrong with a request for a WebSocket; empty if nothing is."""
    if headers.get("sec-websocket-version") != VERSION:
        return "websocket: the client is not using version 13"
    if not valid_key(headers.get("sec-websocket-key", "").encode()):
        return "websocket: the key is not 16 bytes in base64"
    return ""


def handshake_headers(headers: Mapping[str, str], protocol: str) -> dict[str, str]:
    """What a server answers to a request for a WebSocket."""
    accepted = accept_key(headers["sec-websocket-key"].encode()).decode()
    return {
        "Upgrade": "websocket",
        "Sec-WebSocket-Accept": accepted,
        **({"Sec-WebSocket-Protocol": protocol} if protocol else {}),
    }


class WebSocketConnection:
    """A WebSocket of a client."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._reader = connection, FrameReader(True, MESSAGE_BYTES)
        self._writing = asyncio.Lock()

    async def messages(self) -> AsyncIterator[tuple[int, bytes]]:
        """Channels and payloads of what comes."""
        async for payload in self.payloads():
            yield payload[0], payload[1:]

    async def payloads(self) -> AsyncIterator[bytes]:
        """What comes and is not empty, until the client closes, leaves, or lies."""
        while raw := await self._connection.read():
            try:
                for op, payload in self._reader.feed(raw):
                    if op == Opcode.CLOSE:
                        return
                    if op == Opcode.PING:
                        await self._send(Opcode.PONG, payload)
                    elif op != Opcode.PONG and payload:
                        yield payload
            except WebSocketError as error:
                await self._close(PROTOCOL_ERROR, str(error))
                return

    async def send(self, channel: int, payload: bytes) -> None:
        """Send a message of a channel, once there is room."""
        await self.send_payload(bytes((channel,)), payload)

    async def send_payload(self, *parts: bytes) -> None:
        """Send a message, once there is room."""
        await self._send(Opcode.BINARY, *parts)

    async def close(self) -> None:
        """Say that nothing more will come."""
        await self._close(NORMAL, "")

    async def _close(self, code: int, reason: str) -> None:
        await self._send(Opcode.CLOSE, encode_close(code, reason.encode()[:100]))

    async def _send(self, op: Opcode, *parts: bytes) -> None:
        async with self._writing:
            await self._connection.write(encode_frames(op, [(b"".join(parts),)], None))


class WebSocketTunnel:
    """Bytes of another protocol within a WebSocket: messages are pieces of it."""

    def __init__(self, connection: Connection) -> None:
        self._socket = WebSocketConnection(connection)
        self._payloads = self._socket.payloads()

    async def read(self) -> bytes:
        """What came, at least one byte; nothing at the end."""
        return await anext(self._payloads, b"")

    async def write(self, raw: bytes) -> None:
        """Send, and wait until there is room for more."""
        await self._socket.send_payload(raw)
