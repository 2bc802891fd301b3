"""Devices that speak HTTP: an instruction is a path, its reply goes back as it comes.

Replies are streamed: a camera's goes on for ever, one of 100 MB is never held. A device that speaks
nonsense is 502, one that cannot be reached, or takes too long, 503. The client is no API client:
whatever a device is sent came from the caller.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from quintant.agents.deviceshifu.config.values import Instruction
from quintant.agents.deviceshifu.drivers.address import DeviceAddress, DeviceDialer
from quintant.agents.deviceshifu.drivers.driver import (
    BROKEN,
    KEPT_BYTES,
    NOT_CONNECTED,
    Answer,
    DeviceError,
    refused,
    whole_body,
)
from quintant.agents.deviceshifu.drivers.forward import (
    device_headers,
    device_target,
    passed_headers,
)
from quintant.agents.deviceshifu.drivers.session import SessionDriver
from quintant.agents.deviceshifu.drivers.timeout import timeout_seconds
from quintant.http.client_connection import ClientConnection, ConnectionBroken
from quintant.http.connection import Disconnected
from quintant.http.encode_request import encode_request, header_line
from quintant.http.head import ProtocolError, ResponseHead
from quintant.http.request import Request
from quintant.http.response import Response, StreamingResponse

PORT = 80
METHODS = ("GET", "POST", "PUT")
MOST_IDLE = 8
FRESH_SECONDS = 10.0
"""A connection that was idle for longer is not used again: the device may have let go of it."""
_FAILURES = (ConnectionBroken, ProtocolError, OSError, TimeoutError)


class HttpDriver(SessionDriver):
    """A device that speaks HTTP; connections are kept for the next request."""

    def __init__(self, dialer: DeviceDialer, place: DeviceAddress) -> None:
        super().__init__(dialer, place)
        self._idle: list[ClientConnection] = []

    async def call(self, request: Request, instruction: Instruction) -> Answer:
        """Pass a request on, and the reply back."""
        method = request.method
        if method not in METHODS:
            return refused("not supported yet", 400)
        seconds = timeout_seconds(request.query, self._config.timeout)
        body = await whole_body(request) if method != "GET" else None
        headers = device_headers(request, str(self._place))
        target = device_target(instruction.name, request.query)
        now = asyncio.get_running_loop().time()
        ends = now + seconds if seconds is not None else None
        head, connection = await self._open(
            method, encode_request(method, target, headers, body), ends
        )
        return await self._reply(head, connection, ends)

    async def read(self, instruction: str, seconds: float | None) -> bytes:
        """The beginning of a reply with a status of success."""
        now = asyncio.get_running_loop().time()
        ends = now + seconds if seconds is not None else None
        data = encode_request(
            "GET", device_target(instruction), header_line("Host", str(self._place)), None
        )
        head, connection = await self._open("GET", data, ends)
        found, whole = await self._collect(connection, ends)
        self._release(connection, whole)
        if not 200 <= head.status < 300:
            raise DeviceError(BROKEN, f"the device answered {head.status}")
        return found[:KEPT_BYTES]

    async def check(self, seconds: float | None) -> None:
        """Whether the device takes connections."""
        if any(self._usable(each) for each in self._idle):
            return
        try:
            async with asyncio.timeout(seconds):
                self._release(await self._dial(), True)
        except _FAILURES as error:
            raise _failed(error, self._place) from None

    async def _close(self) -> None:
        for connection in tuple(self._idle):
            connection.close()
        self._idle.clear()

    async def _reply(
        self, head: ResponseHead, connection: ClientConnection, ends: float | None
    ) -> Answer:
        size = head.headers.get("content-length", "")
        headers = passed_headers(head)
        if size.isdigit() and int(size) <= KEPT_BYTES:
            body, whole = await self._collect(connection, ends)
            self._release(connection, whole)
            return Response(head.status, headers, body)
        return StreamingResponse(
            self._pieces(connection, ends),
            status=head.status,
            headers=headers,
            size=int(size) if size.isdigit() else None,
        )

    async def _collect(
        self, connection: ClientConnection, ends: float | None
    ) -> tuple[bytes, bool]:
        """The beginning of a body, and whether that is all of it."""
        pieces, size = list[bytes](), 0
        try:
            async with asyncio.timeout_at(ends):
                while size <= KEPT_BYTES:
                    piece = await connection.read()
                    if not piece:
                        return b"".join(pieces), True
                    pieces.append(piece)
                    size += len(piece)
        except _FAILURES as error:
            connection.close()
            raise _failed(error, self._place) from None
        return b"".join(pieces), False

    async def _pieces(
        self, connection: ClientConnection, ends: float | None
    ) -> AsyncGenerator[bytes, None]:
        whole = False
        try:
            while not whole:
                async with asyncio.timeout_at(ends):
                    piece = await connection.read()
                whole = not piece
                yield piece
        except _FAILURES:
            # The head is out: all that can be said is that this is not the end of the reply.
            raise Disconnected from None
        finally:
            self._release(connection, whole)

    async def _open(
        self, method: str, data: bytes, ends: float | None
    ) -> tuple[ResponseHead, ClientConnection]:
        try:
            async with asyncio.timeout_at(ends):
                kept = self._take() if method == "GET" else None
                if kept is not None:
                    try:
                        return await kept.open(method, data), kept
                    except ConnectionBroken as error:
                        if error.begun:  # else it died of old age before we wrote to it
                            raise
                connection = await self._dial()
                return await connection.open(method, data), connection
        except _FAILURES as error:
            raise _failed(error, self._place) from None

    async def _dial(self) -> ClientConnection:
        return await self._dialer.connect(lambda: ClientConnection(self._forget), self._place)

    def _take(self) -> ClientConnection | None:
        while self._idle:
            connection = self._idle.pop()
            if self._usable(connection):
                return connection
            connection.close()
        return None

    def _usable(self, connection: ClientConnection) -> bool:
        age = asyncio.get_running_loop().time() - connection.idle_since
        return connection.usable and age < FRESH_SECONDS

    def _release(self, connection: ClientConnection, whole: bool) -> None:
        if whole and connection.usable and len(self._idle) < MOST_IDLE:
            connection.idle_since = asyncio.get_running_loop().time()
            self._idle.append(connection)
        else:
            connection.close()

    def _forget(self, connection: ClientConnection) -> None:
        if connection in self._idle:
            self._idle.remove(connection)


def _failed(error: BaseException, place: DeviceAddress) -> DeviceError:
    match error:
        case TimeoutError():
            return DeviceError(NOT_CONNECTED, f"{place} did not answer in time")
        case ProtocolError():
            return DeviceError(BROKEN, f"{place} sent something that is not HTTP: {error}")
        case ConnectionBroken(begun=True):
            return DeviceError(BROKEN, f"{place} broke off in the middle of its reply")
        case ConnectionBroken():
            return DeviceError(NOT_CONNECTED, f"{place} closed the connection")
        case OSError():
            why = error.strerror or type(error).__name__
            return DeviceError(NOT_CONNECTED, f"{place} cannot be reached: {why}")
    return DeviceError(NOT_CONNECTED, f"{place} cannot be reached")
