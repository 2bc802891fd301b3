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
from quintant.agents.deviceshifu.drivers.address import DeviceAddress, DeviceDialer
from quintant.agents.deviceshifu.drivers.driver import (
    KEPT_BYTES,
    Answer,
    DeviceError,
    not_connected,
    whole_body,
)
from quintant.agents.deviceshifu.drivers.go_text import go_hex_error, go_json
from quintant.agents.deviceshifu.drivers.session import SessionDriver
from quintant.http.request import Request
from quintant.http.response import Response

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


class SocketDriver(SessionDriver):
    """A device that takes commands over TCP."""

    counts_readings = False

    def __init__(self, dialer: DeviceDialer, place: DeviceAddress, form: SocketFormat) -> None:
        super().__init__(dialer, place)
        self._form = form
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, request: Request, instruction: Instruction) -> Answer:
        """Send a command, and tell the reply."""
        if request.field(b"content-type") != JSON:
            raise DeviceError(400, "content-type is not application/json")
        command, seconds = _asked(await whole_body(request), self._form)
        reply = await self._command(command, seconds or float(self._config.timeout) or None)
        hexadecimal = self._form.encoding == _HEX
        text = reply.hex() if hexadecimal else reply.decode("utf-8", "surrogateescape")
        return Response(200, {"content-type": JSON}, go_json({"message": text, "status": 200}))

    async def read(self, instruction: str, seconds: float | None) -> bytes:
        """There is nothing to read but in answer to a command."""
        raise DeviceError(400, "a socket has no telemetry")

    async def check(self, seconds: float | None) -> None:
        """Whether the device takes connections; the one that is open is not disturbed."""
        if self._one.locked():
            return
        try:
            async with asyncio.timeout(seconds), self._one:
                await self._connected()
        except (OSError, TimeoutError) as error:
            raise self._unreachable(error) from None

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
            raise not_connected(f"{self._place} did not answer in time") from None
        except OSError as error:
            raise self._unreachable(error) from None

    async def _exchange(self, command: bytes) -> bytes:
        reader, writer = await self._connected()
        writer.write(command)
        await writer.drain()
        reply = await reader.read(self._form.buffer)
        if not reply:
            raise DeviceError(500, EMPTY)
        return reply.ljust(self._form.buffer, b"\0") if self._form.pad else reply

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is not None and _broken(self._streams):
            await self._close()
        if self._streams is None:
            self._streams = await self._dialer.streams(self._place)
        return self._streams

    async def _close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def _broken(streams: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> bool:
    return streams[0].at_eof() or streams[1].is_closing() or streams[0].exception() is not None


def _asked(body: bytes, form: SocketFormat) -> tuple[bytes, float]:
    try:
        found = json.loads(body)
        command, seconds = found.get("command", ""), found.get("timeout", 0)
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
