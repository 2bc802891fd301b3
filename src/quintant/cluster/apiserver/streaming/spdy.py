"""spdy.NewServerConnection: SPDY/3.1 over a client's connection, or within its WebSocket.

Who reads takes frames one by one, so a stream that no reader takes holds up the others of its
connection, and nothing piles up.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from quintant.cluster.apiserver.kubelet_client.streaming_runtime import ExecOptions
from quintant.cluster.apiserver.streaming.channels import ExecChannel
from quintant.http.spdy_frames import (
    FrameType,
    SpdyError,
    SpdyFrame,
    SpdyReader,
    SpdyWriter,
    encode_data,
    encode_number,
)

SPDY = "SPDY/3.1"
PROTOCOL_HEADER = "x-stream-protocol-version"
REFUSED_STREAM = 3
CREATE_SECONDS = 30.0
"""For a client to begin all streams of a session."""
_TYPES = {
    "error": ExecChannel.ERROR,
    "stdin": ExecChannel.STDIN,
    "stdout": ExecChannel.STDOUT,
    "stderr": ExecChannel.STDERR,
    "resize": ExecChannel.RESIZE,
}


class SpdyCarrier(Protocol):
    """What SPDY is carried in."""

    async def read(self) -> bytes:
        """What came, at least one byte; nothing at the end."""

    async def write(self, raw: bytes) -> None:
        """Send, and wait until there is room for more."""


def spdy_headers(protocol: str) -> dict[str, str]:
    """What a server answers to a request for SPDY."""
    return {"Upgrade": SPDY, "X-Stream-Protocol-Version": protocol}


def offered_versions(headers: Mapping[str, str]) -> list[str]:
    """The protocols that a client speaks over SPDY."""
    return [each.strip() for each in headers.get(PROTOCOL_HEADER, "").split(",")]


class SpdyConnection:
    """The frames of a client, and ours."""

    def __init__(self, carrier: SpdyCarrier) -> None:
        self._carrier = carrier
        self._reader, self._writer = SpdyReader(), SpdyWriter()
        self._writing = asyncio.Lock()

    async def frames(self) -> AsyncIterator[SpdyFrame]:
        """What concerns streams, until the client leaves or sends what is no SPDY."""
        while raw := await self._carrier.read():
            try:
                for frame in self._reader.feed(raw):
                    if frame.type is FrameType.PING:
                        await self._write(encode_number(FrameType.PING, frame.stream))
                    elif frame.type is FrameType.GOAWAY:
                        return
                    else:
                        yield frame
            except SpdyError:
                return

    async def accept(self, stream: int) -> None:
        """Answer to the beginning of a stream."""
        async with self._writing:
            await self._carrier.write(self._writer.reply(stream, {}))

    async def refuse(self, stream: int) -> None:
        """Have nothing to do with a stream."""
        await self._write(encode_number(FrameType.RST_STREAM, stream, REFUSED_STREAM))

    async def send(self, stream: int, payload: bytes, *, last: bool = False) -> None:
        """Send data on a stream, once there is room."""
        await self._write(encode_data(stream, payload, last))

    async def _write(self, raw: bytes) -> None:
        async with self._writing:
            await self._carrier.write(raw)


class SpdyExecStreams:
    """The streams of a session, each a stream of SPDY."""

    def __init__(self, connection: SpdyConnection) -> None:
        self._connection = connection
        self._frames = connection.frames()
        self._channels: dict[int, ExecChannel] = {}
        self._early: list[SpdyFrame] = []

    async def open(self, options: ExecOptions) -> bool:
        """Wait for a client to begin all streams that it asked for; whether it did."""
        expected = set(_expected(options))
        try:
            async with asyncio.timeout(CREATE_SECONDS):
                while expected - set(self._channels.values()):
                    frame = await anext(self._frames)
                    if frame.type is FrameType.SYN_STREAM:
                        await self._begin(frame)
                    elif len(self._early) < len(_TYPES):
                        self._early.append(frame)
        except (TimeoutError, StopAsyncIteration):
            return False
        return True

    async def messages(self) -> AsyncIterator[tuple[int, bytes]]:
        """What comes, and on which channel."""
        for frame in self._early:
            for message in self._read(frame):
                yield message
        self._early = []
        async for frame in self._frames:
            if frame.type is FrameType.SYN_STREAM:
                await self._connection.refuse(frame.stream)
            for message in self._read(frame):
                yield message

    async def send(self, channel: int, payload: bytes) -> None:
        """Send something on a channel, once there is room."""
        for stream, each in self._channels.items():
            if each == channel:
                await self._connection.send(stream, payload)

    async def close(self) -> None:
        """End every stream of ours: what was told of the outcome comes last."""
        last = sorted(self._channels.items(), key=lambda pair: pair[1] is ExecChannel.ERROR)
        for stream, _ in last:
            await self._connection.send(stream, b"", last=True)

    async def _begin(self, frame: SpdyFrame) -> None:
        channel = _TYPES.get(frame.headers.get("streamtype", ""))
        if channel is None or channel in self._channels.values():
            await self._connection.refuse(frame.stream)
            return
        self._channels[frame.stream] = channel
        await self._connection.accept(frame.stream)
        if frame.last and len(self._early) < len(_TYPES):
            self._early.append(frame)

    def _read(self, frame: SpdyFrame) -> list[tuple[int, bytes]]:
        channel = self._channels.get(frame.stream)
        if channel is None or frame.type not in (FrameType.DATA, FrameType.SYN_STREAM):
            return []
        data = [(int(channel), frame.payload)] if frame.payload else []
        return [*data, *([(int(ExecChannel.CLOSE), bytes((channel,)))] if frame.last else [])]


def _expected(options: ExecOptions) -> list[ExecChannel]:
    wanted = {
        ExecChannel.ERROR: True,
        ExecChannel.STDIN: options.stdin,
        ExecChannel.STDOUT: options.stdout,
        ExecChannel.STDERR: options.stderr and not options.tty,
        ExecChannel.RESIZE: options.tty,
    }
    return [channel for channel, each in wanted.items() if each]
