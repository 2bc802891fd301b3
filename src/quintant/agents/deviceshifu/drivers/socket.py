"""Devices behind a plain TCP socket: one command out, one reply back.

One connection, one command at a time: two callers never get each other's reply. A connection that
the device closed is opened again once per command.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from quintant.agents.deviceshifu.config.values import Instruction
from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.deviceshifu.drivers.driver import (
    BROKEN,
    KEPT_BYTES,
    Answer,
    DeviceError,
    not_connected,
    whole_body,
)
from quintant.agents.deviceshifu.drivers.go_text import go_hex_error, go_json
from quintant.agents.deviceshifu.drivers.session import StreamDriver, Streams
from quintant.http.request import Request
from quintant.http.response import Response
from quintant.wire.shifu import DeviceAddress

JSON = "application/json"
BUFFER_BYTES = 1024
EMPTY = "Failed to Read data from connection to buffer, for Read 0 byte from buffer"
_HEX = "hex"


class SocketFormat(NamedTuple):
    """How commands and replies are written."""

    encoding: str = "utf-8"
    buffer: int = BUFFER_BYTES
    pad: bool = False
    """Whether a reply is filled up with zeros, as upstream's are."""


def socket_format(settings: Mapping[str, Any]) -> SocketFormat:
    """What an EdgeDevice says of it."""
    length = settings.get("bufferLength")
    fits = isinstance(length, int) and 0 < length <= KEPT_BYTES
    return SocketFormat(
        _HEX if settings.get("encoding") == _HEX else "utf-8",
        length if fits and isinstance(length, int) else BUFFER_BYTES,
        settings.get("padToBuffer") in (True, "true"),
    )


class SocketDriver(StreamDriver):
    """A device that takes commands over TCP."""

    counts_readings = False

    def __init__(self, dialer: DeviceDialer, address: DeviceAddress, form: SocketFormat) -> None:
        super().__init__(dialer, address)
        self._form = form

    async def call(self, request: Request, instruction: Instruction) -> Answer:
        """Send a command, and tell the reply."""
        if request.field(b"content-type") != JSON:
            raise DeviceError(400, "content-type is not application/json")
        command, seconds = _decode_command(await whole_body(request), self._form)
        reply = await self._command(command, seconds or float(self._config.timeout) or None)
        hexadecimal = self._form.encoding == _HEX
        text = reply.hex() if hexadecimal else reply.decode("utf-8", "surrogateescape")
        return Response(200, {"content-type": JSON}, go_json({"message": text, "status": 200}))

    async def read(self, instruction: str, seconds: float | None) -> bytes:
        """There is nothing to read but in answer to a command."""
        raise DeviceError(400, "a socket has no telemetry")

    async def _command(self, command: bytes, seconds: float | None) -> bytes:
        try:
            async with asyncio.timeout(seconds), self._one:
                try:
                    return await self._exchange(command)
                except BaseException:
                    # A reply that comes late is nobody's: the next caller must not get it.
                    await self._close()
                    raise
        except TimeoutError:
            raise not_connected(f"{self._address} did not answer in time") from None
        except OSError as error:
            raise self._unreachable(error) from None

    async def _exchange(self, command: bytes) -> bytes:
        reader, writer = await self._in_step()
        writer.write(command)
        await writer.drain()
        reply = await reader.read(self._form.buffer)
        if not reply:
            raise DeviceError(500, EMPTY)
        self._answering = self._streams
        return reply.ljust(self._form.buffer, b"\0") if self._form.pad else reply

    async def _in_step(self) -> Streams:
        """A connection on which what comes next answers what is sent next."""
        for _ in range(2):
            reader, writer = await self._connected()
            if await _drop_earlier(reader):
                return reader, writer
            await self._close()
        raise DeviceError(BROKEN, "the device sends without end, and without being asked")


async def _drop_earlier(reader: asyncio.StreamReader) -> bool:
    """Forget what the device sent before it was asked; whether that was all, and it is there.

    Where so much came that reading stopped, the rest is still on its way.
    """
    try:
        async with asyncio.timeout(0):
            return 0 < len(await reader.read(KEPT_BYTES)) < KEPT_BYTES
    except TimeoutError:
        return True


def _decode_command(body: bytes, form: SocketFormat) -> tuple[bytes, float]:
    try:
        document = json.loads(body)
        command, seconds = document.get("command", ""), document.get("timeout", 0)
    except (ValueError, AttributeError, RecursionError):
        raise DeviceError(400, "error decode JSON: expected an object with a command") from None
    if not isinstance(command, str) or not isinstance(seconds, int) or isinstance(seconds, bool):
        raise DeviceError(400, "error decode JSON: command is a string, timeout a whole number")
    if form.encoding != _HEX:
        return command.encode("utf-8", "replace"), _bounded(seconds)
    if wrong := go_hex_error(command):
        raise DeviceError(400, f"Failed to decode Command from body, error:  {wrong}")
    return bytes.fromhex(command), _bounded(seconds)


def _bounded(seconds: int) -> float:
    return float(min(max(seconds, 0), 86_400))
