"""Bounds around the library for OPC UA, which believes what a server says of sizes.

A server announces how long a message, an array or a text is. The library waits for four gigabytes,
makes two billion nothings of nine bytes, and goes backwards in a message for a text of negative
length. Here a message has an end, and what it holds is not larger than it is itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from math import prod
from typing import Any

from asyncua import Client, ua
from asyncua.client.ua_client import UaClient, UaClientState, UASocketProtocol
from asyncua.common.connection import TransportLimits
from asyncua.common.utils import Buffer, NotEnoughData
from asyncua.ua import ua_binary

CHUNK_BYTES = 65_535
"""Of a part of a message, as we tell the server."""
MESSAGE_BYTES = 1024 * 1024
"""Of a message: a value that is shown has at most 64 KiB."""
SMALLEST_BYTES = 8_192
"""Of a part that a server must take, by the standard."""
_HEADER_BYTES = 8


class BadMessage(ua.UaError):  # type: ignore[misc]
    """A server sent something that is not OPC UA, or more of it than anybody reads."""


class OwnLimits(TransportLimits):  # type: ignore[misc]
    """Ours, whatever the server says of its own."""

    def __init__(self) -> None:
        super().__init__(CHUNK_BYTES, CHUNK_BYTES, MESSAGE_BYTES // SMALLEST_BYTES, MESSAGE_BYTES)

    def update_client_limits(self, msg: ua.Acknowledge) -> None:
        """Send parts that the server takes; what we take stays."""
        if msg.ReceiveBufferSize < SMALLEST_BYTES:
            raise BadMessage("a server that takes no messages")
        self.max_send_buffer: int = min(int(msg.ReceiveBufferSize), CHUNK_BYTES)


class BoundedProtocol(UASocketProtocol):  # type: ignore[misc]
    """A connection on which nothing piles up."""

    _receiving = False

    def data_received(self, data: bytes) -> None:
        """Take bytes from the server."""
        self._receiving = True
        try:
            super().data_received(data)
            held = self.receive_buffer or b""
            size = int.from_bytes(held[4:_HEADER_BYTES], "little")
            if len(held) >= _HEADER_BYTES and not _HEADER_BYTES <= size <= CHUNK_BYTES:
                self.disconnect_socket()
        finally:
            self._receiving = False

    def disconnect_socket(self) -> None:
        """End it; who waits for an answer that cannot be read hears that."""
        if self._receiving:
            self.receive_buffer: bytes | None = None
            self._fail_all_pending(BadMessage("the server sent something that is not OPC UA"))
        super().disconnect_socket()


Dial = Callable[[Callable[[], BoundedProtocol]], Awaitable[BoundedProtocol]]
"""Connects a protocol to the server."""


class BoundedUaClient(UaClient):  # type: ignore[misc]
    """The library's, on such a connection."""

    def __init__(self, seconds: float, dial: Dial) -> None:
        super().__init__(seconds)
        self._dial = dial

    async def connect_socket(self, host: str, port: int) -> None:
        """Connect as every driver does; the library would resolve names by itself."""
        self._set_state(UaClientState.CONNECTING)
        try:
            async with asyncio.timeout(self._timeout):
                await self._dial(self._make_protocol)
        except BaseException:
            self._set_state(UaClientState.DISCONNECTED)
            raise
        self._set_state(UaClientState.SOCKET_OPEN)

    def _make_protocol(self) -> BoundedProtocol:
        made = BoundedProtocol(self._timeout, self.security_policy, OwnLimits())
        self.protocol: BoundedProtocol = made
        made.pre_request_hook = self._pre_request_hook
        made.on_connection_lost = self._on_transport_lost
        made.is_session_closing = self._is_session_closing
        return made


def bounded_client(url: str, seconds: float, dial: Dial) -> Client:
    """A client whose server cannot make it grow, over a connection that `dial` makes."""
    client = Client(url, timeout=seconds)
    hook = client.uaclient.pre_request_hook
    client.uaclient = BoundedUaClient(seconds, dial)
    client.uaclient.pre_request_hook = hook
    return client


class _NoArray:
    """Of nothings: it takes no bytes, so nothing limits how many there are."""

    @staticmethod
    def unpack_array(data: Buffer, length: int) -> Sequence[None]:
        if length > 0:
            raise BadMessage("an array of nothings")
        return ()


def _read(self: Buffer, size: int) -> bytes:
    if size < 0:
        raise NotEnoughData(f"a text of {size} bytes")
    found: bytes = _library_read(self, size)
    return found


def _reshape(flat: list[Any], dimensions: Sequence[int]) -> list[Any]:
    if any(each < 0 for each in dimensions) or prod(dimensions) != len(flat):
        raise BadMessage("an array that is not as large as it says")
    shaped = flat
    for size in reversed(dimensions[1:]):
        shaped = [shaped[at : at + size] for at in range(0, len(shaped), size)] if size else []
    return shaped


# The library has no switch for these; its decoders look them up by name.
_library_read = Buffer.read
Buffer.read = _read
ua_binary.Primitives1.Null = _NoArray
ua_binary._reshape = _reshape
