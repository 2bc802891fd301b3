"""Devices that speak HTTP: an instruction is a path, its reply goes back as it comes.

Replies are streamed: a camera's goes on for ever, one of 100 MB is never held. A device that speaks
nonsense is 502, one that cannot be reached, or takes too long, 503. The client is no API client:
whatever a device is sent came from the caller.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator

from quintant.agents.deviceshifu.config.values import Instruction
from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.deviceshifu.drivers.device_connections import DeviceConnections
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
from quintant.wire.shifu import DeviceAddress

PORT = 80
METHODS = ("GET", "POST", "PUT")
PINGS = (("OPTIONS", "*"), ("HEAD", "/"), ("GET", "/"))
"""What asks whether anybody is there and changes nothing: the first is about no path, but small
devices hang up on what they do not know."""
LAST_STATUS = 599
_BODYLESS = (204, 304)
_FAILURES = (ConnectionBroken, ProtocolError, OSError, TimeoutError)


class HttpDriver(SessionDriver):
    """A device that speaks HTTP; connections are kept for the next request."""

    def __init__(self, dialer: DeviceDialer, address: DeviceAddress) -> None:
        super().__init__(dialer, address)
        self._idle = DeviceConnections()
        self._pings = deque(PINGS)
        """The question to ask next is the first: the one that was answered last."""

    async def call(self, request: Request, instruction: Instruction) -> Answer:
        """Pass a request on, and the reply back."""
        method = request.method
        if method not in METHODS:
            return refused("not supported yet", 400)
        seconds = timeout_seconds(request.query, self._config.timeout)
        body = await whole_body(request) if method != "GET" else None
        headers = device_headers(request, str(self._address))
        target = device_target(instruction.name, request.query)
        data = encode_request(method, target, headers, body)
        return await self._exchange(method, data, _ends(seconds))

    async def read(self, instruction: str, seconds: float | None) -> bytes:
        """The beginning of a reply with a status of success."""
        data = encode_request(
            "GET", device_target(instruction), header_line("Host", str(self._address)), None
        )
        try:
            async with asyncio.timeout(seconds):
                head, connection = await self._open("GET", data)
                found = await self._collect(connection)
        except _FAILURES as error:
            raise _failed(error, self._address) from None
        if not 200 <= head.status < 300:
            raise DeviceError(BROKEN, f"the device answered {head.status}")
        return found[:KEPT_BYTES]

    async def check(self, seconds: float | None) -> None:
        """Whether the device speaks HTTP: one that answered is still connected, or does again."""
        if self._idle.any_usable():
            return
        try:
            async with asyncio.timeout(seconds):
                await self._ping()
        except _FAILURES as error:
            self._pings.rotate(-1)
            raise _failed(error, self._address) from None

    async def _ping(self) -> None:
        """Ask until something is answered: whatever has a head of HTTP's is an answer."""
        for left in reversed(range(len(PINGS))):
            try:
                await self._exchange_ping(*self._pings[0])
            except (ConnectionBroken, ProtocolError):
                if not left:
                    raise
                self._pings.rotate(-1)
            else:
                return

    async def _exchange_ping(self, method: str, target: str) -> None:
        data = encode_request(method, target, header_line("Host", str(self._address)), None)
        head, connection = await self._open(method, data)
        size = 0 if method == "HEAD" else _size(head)
        if size is not None and size <= KEPT_BYTES:
            await self._collect(connection)
        else:
            connection.close()  # a body of no known end

    async def _close(self) -> None:
        self._idle.close()

    async def _exchange(self, method: str, data: bytes, ends: float | None) -> Answer:
        """The reply to a request: whole if it is small, else as it comes."""
        try:
            # One limit for head and body: each costs a timer.
            async with asyncio.timeout_at(ends):
                head, connection = await self._open(method, data)
                size, headers = _size(head), passed_headers(head)
                if size is not None and size <= KEPT_BYTES:
                    return Response(head.status, headers, await self._collect(connection))
                # What is wrong with its beginning can still be told by a status.
                first = await self._first(connection)
        except _FAILURES as error:
            raise _failed(error, self._address) from None
        return StreamingResponse(
            self._pieces(connection, first, ends), status=head.status, headers=headers, size=size
        )

    async def _first(self, connection: ClientConnection) -> bytes:
        try:
            return await connection.read()
        except BaseException:
            connection.close()
            raise

    async def _collect(self, connection: ClientConnection) -> bytes:
        """A body, or the beginning of a large one; the connection is kept if that was all."""
        pieces, size, whole = list[bytes](), 0, False
        try:
            while size <= KEPT_BYTES and not whole:
                piece = await connection.read()
                whole = not piece
                pieces.append(piece)
                size += len(piece)
        finally:
            self._release(connection, whole)
        return b"".join(pieces)

    async def _pieces(
        self, connection: ClientConnection, first: bytes, ends: float | None
    ) -> AsyncGenerator[bytes, None]:
        whole, piece = not first, first
        try:
            while not whole:
                yield piece
                async with asyncio.timeout_at(ends):
                    piece = await connection.read()
                whole = not piece
        except _FAILURES:
            # The head is out: all that can be said is that this is not the end of the reply.
            raise Disconnected from None
        finally:
            self._release(connection, whole)

    async def _open(self, method: str, data: bytes) -> tuple[ResponseHead, ClientConnection]:
        kept = self._idle.take() if method == "GET" else None
        if kept is not None:
            try:
                return _possible(await kept.open(method, data), kept), kept
            except ConnectionBroken as error:
                if error.begun:  # else it died of old age before we wrote to it
                    raise
        connection = await self._dial()
        return _possible(await connection.open(method, data), connection), connection

    async def _dial(self) -> ClientConnection:
        return await self._dialer.connect(
            lambda: ClientConnection(self._idle.forget), self._address
        )

    def _release(self, connection: ClientConnection, whole: bool) -> None:
        if whole:
            self._idle.keep(connection)
        else:
            connection.close()


def _ends(seconds: float | None) -> float | None:
    return None if seconds is None else asyncio.get_running_loop().time() + seconds


def _possible(head: ResponseHead, connection: ClientConnection) -> ResponseHead:
    """The head, if its status is one of HTTP's: callers cannot do anything with another."""
    if head.status <= LAST_STATUS:
        return head
    connection.close()
    raise ProtocolError(BROKEN, f"a status of {head.status}")


def _size(head: ResponseHead) -> int | None:
    """The length of the body as the device announces it."""
    if head.status in _BODYLESS:
        return 0
    values = head.all(b"content-length")
    return int(values[0]) if values else None


def _failed(error: BaseException, address: DeviceAddress) -> DeviceError:
    match error:
        case TimeoutError():
            return DeviceError(NOT_CONNECTED, f"{address} did not answer in time")
        case ProtocolError():
            return DeviceError(BROKEN, f"{address} sent something that is not HTTP: {error}")
        case ConnectionBroken(begun=True):
            return DeviceError(BROKEN, f"{address} broke off in the middle of its reply")
        case ConnectionBroken():
            return DeviceError(NOT_CONNECTED, f"{address} closed the connection")
        case OSError():
            why = error.strerror or type(error).__name__
            return DeviceError(NOT_CONNECTED, f"{address} cannot be reached: {why}")
    return DeviceError(NOT_CONNECTED, f"{address} cannot be reached")
