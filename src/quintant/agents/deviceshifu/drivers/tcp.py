"""Devices behind a TCP port: every connection to the agent becomes one to the device.

Bytes go both ways until both sides have ended; an end of one side is passed on, and the other goes
on. There are no instructions.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from quintant.agents.deviceshifu.config.values import DeviceConfig, Instruction
from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.deviceshifu.drivers.driver import Answer, DeviceError, not_connected
from quintant.agents.deviceshifu.drivers.session import Streams, lasting
from quintant.http.request import Request
from quintant.wire.shifu import DeviceAddress

PORT = 8081
AGENT_PORT = 8080
"""Where the facade listens: nothing else can."""
PIECE_BYTES = 64 * 1024
CONNECT_SECONDS = 10.0
MOST_CONNECTIONS = 1000
RETRY_SECONDS = 5.0
ANSWERED_SECONDS = 60.0
"""Between two looks whether connections last: most devices take few, and a look is one of them."""


def listen_port(settings: Mapping[str, Any]) -> int:
    """Where to listen; nonsense in the settings means the usual port."""
    text = settings.get("ListenPort")
    number = int(text) if isinstance(text, str) and text.isascii() and text.isdigit() else PORT
    return number if 0 < number < 65_536 and number != AGENT_PORT else PORT


class TcpDriver:
    """A port that is forwarded to a device."""

    counts_readings = False
    busy = False

    def __init__(
        self, dialer: DeviceDialer, address: DeviceAddress, listen: str, port: int
    ) -> None:
        self._dialer, self._address, self._listen, self._port = dialer, address, listen, port
        self._open: set[asyncio.StreamWriter] = set()
        self._theirs: set[Streams] = set()
        """Connections of callers, on the device's side."""
        self._trouble = ""
        self._answered = -math.inf
        """When a connection was last known to lead to the device."""
        self.bound: int = 0
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
        """Whether connections to the device last; those that are open say so."""
        if self._trouble:
            raise not_connected(self._trouble)
        try:
            async with asyncio.timeout(seconds):
                streams = next(iter(self._theirs), None) or await self._dialer.streams(
                    self._address
                )
            await self._lasting(streams)
        except (OSError, TimeoutError) as error:
            why = getattr(error, "strerror", None) or type(error).__name__
            raise not_connected(f"{self._address}: {why}") from None

    async def _lasting(self, streams: Streams) -> None:
        try:
            if not self._answers():
                await lasting(streams, self._answers)
                self._heard()
        finally:
            if streams not in self._theirs:
                streams[1].close()

    def _answers(self) -> bool:
        return asyncio.get_running_loop().time() - self._answered < ANSWERED_SECONDS

    def _heard(self) -> None:
        self._answered = asyncio.get_running_loop().time()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs = await self._dial() if len(self._open) < MOST_CONNECTIONS else None
        if theirs is None:
            writer.close()
            return
        await self._both((reader, writer), theirs)

    async def _dial(self) -> Streams | None:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await self._dialer.streams(self._address)
        except (OSError, TimeoutError):
            return None

    async def _both(self, ours: Streams, theirs: Streams) -> None:
        writers = (ours[1], theirs[1])
        self._open.update(writers)
        self._theirs.add(theirs)
        try:
            await asyncio.gather(_copy(ours[0], theirs[1]), _copy(theirs[0], ours[1], self._heard))
        except OSError:
            return
        finally:
            self._theirs.discard(theirs)
            for writer in writers:
                self._open.discard(writer)
                writer.close()


def _unheard() -> None:
    """What a caller says proves nothing of the device."""


async def _copy(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    heard: Callable[[], None] = _unheard,
) -> None:
    while piece := await reader.read(PIECE_BYTES):
        heard()
        writer.write(piece)
        await writer.drain()
    with suppress(OSError):
        writer.write_eof()
