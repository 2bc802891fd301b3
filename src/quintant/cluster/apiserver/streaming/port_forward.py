"""portforward.PortForwarder: connections of a client to ports of a pod, over one of its own.

For each of them a client begins two streams of SPDY with the same request id: one for data, one for
what goes wrong. What is dialled is the pod's address, and nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from quintant.cluster.apiserver.streaming.spdy import SpdyConnection
from quintant.http.spdy_frames import FrameType, SpdyFrame

PORT_FORWARD = "portforward.k8s.io"
TUNNEL = f"SPDY/3.1+{PORT_FORWARD}"
"""The same, within a WebSocket."""
CONNECTIONS = 256
"""Of one client at once, those that it has only begun among them."""
IDLE_SECONDS = 4 * 3600.0
"""Without a byte of the client, its connection ends: what kubelets have by default."""
PIECE = 32 * 1024
WINDOW = 8
"""Pieces of a client that wait for a pod to read; then the client waits."""

_PORT_DIGITS, _PORTS = 5, 1 << 16

Dial = Callable[[int], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
"""Connects with a port of the pod; OSError if it does not answer."""


@dataclass(slots=True)
class ForwardedPort:
    """What a client began of a connection with a port: its two streams."""

    port: int
    error: int = 0
    data: int = 0
    incoming: asyncio.Queue[bytes] = field(default_factory=lambda: asyncio.Queue(WINDOW))
    task: asyncio.Task[None] | None = None

    @property
    def complete(self) -> bool:
        return bool(self.error and self.data)


class PortForwardSession:
    """All connections of a client with one pod."""

    def __init__(self, connection: SpdyConnection, dial: Dial, pod: str) -> None:
        self._connection, self._dial, self._pod = connection, dial, pod
        self._pairs: dict[str, ForwardedPort] = {}
        self._by_stream: dict[int, ForwardedPort] = {}

    async def serve(self) -> None:
        """Forward until the client leaves, or does nothing for hours."""
        with suppress(TimeoutError):
            async with asyncio.timeout(IDLE_SECONDS) as limit, asyncio.TaskGroup() as group:
                async for frame in self._connection.frames():
                    limit.reschedule(asyncio.get_running_loop().time() + IDLE_SECONDS)
                    await self._take(frame, group)
                for pair in self._pairs.values():
                    if pair.task is not None:
                        pair.task.cancel()

    async def _take(self, frame: SpdyFrame, group: asyncio.TaskGroup) -> None:
        if frame.type is FrameType.SYN_STREAM:
            await self._begin(frame, group)
            return
        pair = self._by_stream.get(frame.stream)
        if pair is None or pair.task is None or pair.task.done():
            return
        if frame.type is FrameType.RST_STREAM:
            pair.task.cancel()
            await asyncio.wait((pair.task,))
        elif frame.type is FrameType.DATA:
            for piece in ([frame.payload] if frame.payload else []) + [b""] * frame.last:
                await put_input(pair, piece)

    async def _begin(self, frame: SpdyFrame, group: asyncio.TaskGroup) -> None:
        kind, port = frame.headers.get("streamtype", ""), read_port(frame.headers.get("port", ""))
        request = frame.headers.get("requestid") or _guessed_request(kind, frame.stream)
        pair = self._pairs.get(request) or ForwardedPort(port)
        taken = {"error": pair.error, "data": pair.data}.get(kind, 1)
        full = request not in self._pairs and len(self._pairs) >= CONNECTIONS
        if taken or not port or port != pair.port or full:
            await self._connection.refuse(frame.stream)
            return
        self._pairs[request] = pair
        if kind == "error":
            pair.error = frame.stream
        else:
            pair.data = frame.stream
            self._by_stream[frame.stream] = pair
        await self._connection.accept(frame.stream)
        if pair.complete:
            pair.task = group.create_task(self._forward(pair))
            # Not in the task: one that is cancelled before its first step takes none.
            pair.task.add_done_callback(lambda _: self._forget(request, pair))

    def _forget(self, request: str, pair: ForwardedPort) -> None:
        del self._pairs[request], self._by_stream[pair.data]

    async def _forward(self, pair: ForwardedPort) -> None:
        try:
            reader, writer = await self._dial(pair.port)
            try:
                await self._join(pair, reader, writer)
            finally:
                writer.close()
        except OSError as error:
            why = f"error forwarding port {pair.port} to pod {self._pod}: {error}"
            await self._connection.send(pair.error, why.encode())
        await self._connection.send(pair.data, b"", last=True)
        await self._connection.send(pair.error, b"", last=True)

    async def _join(
        self, pair: ForwardedPort, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Carry bytes until the pod ends the connection."""
        sending = asyncio.ensure_future(send_input(pair, writer))
        try:
            while data := await reader.read(PIECE):
                await self._connection.send(pair.data, data)
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)


async def send_input(pair: ForwardedPort, writer: asyncio.StreamWriter) -> None:
    """Give a pod what comes of its client, until that ends."""
    while piece := await pair.incoming.get():
        writer.write(piece)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


async def put_input(pair: ForwardedPort, piece: bytes) -> None:
    """Give a connection a piece; one that ends meanwhile takes none any more."""
    assert pair.task is not None
    putting = asyncio.ensure_future(pair.incoming.put(piece))
    try:
        await asyncio.wait((putting, pair.task), return_when=asyncio.FIRST_COMPLETED)
    finally:
        putting.cancel()


def read_port(text: str) -> int:
    """A port; 0 if it is none."""
    written = text.isascii() and text.isdigit() and len(text) <= _PORT_DIGITS
    return int(text) if written and int(text) < _PORTS else 0


def _guessed_request(kind: str, stream: int) -> str:
    """The id of who sends none: both streams are begun one after the other, the error first."""
    return str(stream if kind == "error" else stream - 2)
