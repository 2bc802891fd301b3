"""Devices behind a TCP port: every connection to the agent becomes one to the device.

Bytes go both ways until both sides have ended; an end of one side is passed on, and the other goes
on. There are no instructions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from quintant.agents.deviceshifu.config.values import DeviceConfig, Instruction
from quintant.agents.deviceshifu.drivers.address import DeviceAddress, DeviceDialer
from quintant.agents.deviceshifu.drivers.driver import Answer, DeviceError, not_connected
from quintant.http.request import Request

PORT = 8081
AGENT_PORT = 8080
"""Where the facade listens: nothing else can."""
PIECE_BYTES = 64 * 1024
CONNECT_SECONDS = 10.0
MOST_CONNECTIONS = 1000
RETRY_SECONDS = 5.0

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def listen_port(settings: Mapping[str, Any]) -> int:
    """Where to listen; nonsense in the settings means the usual port."""
    text = settings.get("ListenPort")
    number = int(text) if isinstance(text, str) and text.isascii() and text.isdigit() else PORT
    return number if 0 < number < 65_536 and number != AGENT_PORT else PORT


class TcpDriver:
    """A port that is forwarded to a device."""

    counts_readings = False
    busy = False

    def __init__(self, dialer: DeviceDialer, place: DeviceAddress, listen: str, port: int) -> None:
        self._dialer, self._place, self._listen, self._port = dialer, place, listen, port
        self._open: set[asyncio.StreamWriter] = set()
        self._trouble = ""
        self.bound = 0
        """The port that is listened on."""

    def configure(self, config: DeviceConfig) -> None:
        """Nothing of a ConfigMap is of use here."""

    async def run(self) -> None:
        """Forward connections."""
        while True:
            try:
                server = await asyncio.start_server(self._forward, self._listen or None, self._port)
            except OSError as error:
                self._trouble = f"cannot listen on port {self._port}: {error.strerror}"
                await asyncio.sleep(RETRY_SECONDS)
                continue
            self._trouble, self.bound = "", server.sockets[0].getsockname()[1]
            try:
                await asyncio.Event().wait()
            finally:
                server.close()
                for writer in tuple(self._open):
                    writer.close()

    async def call(self, request: Request, instruction: Instruction) -> Answer:
        """There are no instructions."""
        raise DeviceError(400, "a TCP device has no instructions: connect to its port")

    async def read(self, instruction: str, seconds: float | None) -> bytes:
        """There is nothing to read."""
        raise DeviceError(400, "a TCP device has no telemetry")

    async def check(self, seconds: float | None) -> None:
        """Whether the device takes connections; those that are open say so."""
        if self._trouble:
            raise not_connected(self._trouble)
        if self._open:
            return
        try:
            async with asyncio.timeout(seconds):
                _, writer = await self._dialer.streams(self._place)
            writer.close()
        except (OSError, TimeoutError) as error:
            why = getattr(error, "strerror", None) or type(error).__name__
            raise not_connected(f"{self._place}: {why}") from None

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs = await self._dial() if len(self._open) < MOST_CONNECTIONS else None
        if theirs is None:
            writer.close()
            return
        await self._both((reader, writer), theirs)

    async def _dial(self) -> Streams | None:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await self._dialer.streams(self._place)
        except (OSError, TimeoutError):
            return None

    async def _both(self, ours: Streams, theirs: Streams) -> None:
        writers = (ours[1], theirs[1])
        self._open.update(writers)
        try:
            await asyncio.gather(_copy(ours[0], theirs[1]), _copy(theirs[0], ours[1]))
        except OSError:
            return
        finally:
            for writer in writers:
                self._open.discard(writer)
                writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(PIECE_BYTES):
        writer.write(piece)
        await writer.drain()
    with suppress(OSError):
        writer.write_eof()
