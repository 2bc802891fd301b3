"""What is outside the cluster's API: the nodes and their sidecars over HTTP, and new keys.

`NodeRemote` is the protocol; `HttpNodes` speaks it on the wire. A connection to a node is kept for
as long as its pod is asked. Answers are bounded in time and size, whatever the node sends.
"""

from __future__ import annotations

import asyncio
import secrets
from http import HTTPStatus
from typing import Protocol
from urllib.parse import urlencode

import msgspec

from quintant.core.address import BindAddress
from quintant.core.clock import monotonic
from quintant.core.errors import ConnectError, DeadlineExceeded, TransportError
from quintant.core.text import one_line
from quintant.http.client_connection import ClientConnection, ConnectionBroken, ResponseTooLarge
from quintant.http.encode_request import encode_request
from quintant.http.head import ProtocolError
from quintant.operators.cosmos.builders.node_key_builder import SEED_BYTES
from quintant.version import QUINTANT
from quintant.wire.comet import (
    HEALTH_PORT,
    CometStatus,
    MalformedStatus,
    decode_answer,
    parse_status,
)

ANSWER_SECONDS = 5.0
"""A node that does not answer by then is not asked to answer more slowly."""
DISK_SECONDS = 10.0
CONNECT_SHARE = 0.8
"""Of an answer's time, what reaching the node may take."""
# A status has two kilobytes; a validator set or a page of HTML is none.
_MOST_BYTES = 256 * 1024
_HEADERS = f"Accept: application/json\r\nUser-Agent: quintant/{QUINTANT}\r\n"
FAILURES = (ConnectionBroken, OSError, ProtocolError, ResponseTooLarge, TimeoutError)
"""All that connections raise."""


class NodeUnreachable(Exception):
    """A node does not answer, or says nothing sensible; the text is fit for a status."""


class NodeConnection(Protocol):
    """A way to one port of a node."""

    async def get(self, path: str, query: dict[str, str], seconds: float) -> tuple[int, bytes]:
        """Status and body of an answer; TransportError or OSError if there is none."""

    async def close(self) -> None:
        """Let go of it."""


class NodeRemote(Protocol):
    """The nodes, and where keys come from."""

    def connect(self, address: str, port: int) -> NodeConnection:
        """A connection to a port of a pod; nothing is sent yet."""

    def seed(self) -> bytes:
        """The seed of a new node key, which cannot be guessed."""


class HttpConnection:
    """HTTP to a port of a pod, on a connection that is kept.

    It has neither credentials nor a pool: there are thousands, and each is asked all the time.
    """

    __slots__ = ("_address", "_kept")

    def __init__(self, address: str, port: int) -> None:
        self._address = BindAddress(address, port)
        self._kept: ClientConnection | None = None

    async def get(self, path: str, query: dict[str, str], seconds: float) -> tuple[int, bytes]:
        target = f"{path}?{urlencode(query)}" if query else path
        data = encode_request("GET", target, f"Host: {self._address}\r\n{_HEADERS}", None)
        kept, began = self._kept, monotonic()
        try:
            if kept is not None and kept.usable:
                try:
                    return await _exchange(kept, data, seconds)
                except ConnectionBroken as error:
                    if error.begun:
                        raise
                    # It ended before it was written to: that says nothing of the node.
            self._kept = await self._dial(seconds * CONNECT_SHARE)
            return await _exchange(self._kept, data, began + seconds - monotonic())
        except FAILURES as error:
            raise _explained(error, self._address) from None

    async def close(self) -> None:
        if self._kept is not None:
            self._kept.close()
            await asyncio.sleep(0)  # sockets close in the loop's next turn

    async def _dial(self, seconds: float) -> ClientConnection:
        loop, address = asyncio.get_running_loop(), self._address
        try:
            async with asyncio.timeout(seconds):
                _, made = await loop.create_connection(_connection, address.host, address.port)
        except TimeoutError:
            raise ConnectError(f"{self._address} did not accept a connection in time") from None
        return made


def _connection() -> ClientConnection:
    return ClientConnection(lambda _: None)


async def _exchange(connection: ClientConnection, data: bytes, seconds: float) -> tuple[int, bytes]:
    head, body = await connection.request("GET", data, most=_MOST_BYTES, seconds=seconds)
    return head.status, body


def _explained(error: Exception, address: BindAddress) -> TransportError:
    match error:
        case TimeoutError(errno=None):
            return DeadlineExceeded(f"{address}: no answer in time")
        case OSError():
            return ConnectError(f"{address} cannot be reached: {error.strerror or error}")
        case ResponseTooLarge():
            return TransportError(f"{address}: the answer is larger than {error.most} bytes")
        case ProtocolError():
            return ConnectError(f"{address} sent something that is not HTTP")
    return ConnectError(f"the connection to {address} broke before the whole answer")


class HttpNodes:
    """The nodes themselves."""

    def connect(self, address: str, port: int) -> NodeConnection:
        return HttpConnection(address, port)

    def seed(self) -> bytes:
        return secrets.token_bytes(SEED_BYTES)


class DiskUsage(msgspec.Struct, frozen=True):
    """How full the volume of a node is."""

    all_bytes: int = 0
    free_bytes: int = 0
    error: str = ""

    @property
    def percent(self) -> int:
        """Used, of all, as a whole number."""
        return round((self.all_bytes - self.free_bytes) / self.all_bytes * 100)


async def ask_status(connection: NodeConnection) -> CometStatus:
    """What a node says of itself; NodeUnreachable if it says nothing sensible."""
    try:
        code, body = await connection.get("/status", {}, ANSWER_SECONDS)
        return parse_status(body)
    except MalformedStatus as error:
        message = str(error) if code == HTTPStatus.OK else f"HTTP {int(code)}: {error}"
        raise NodeUnreachable(one_line(message)) from None
    except (TransportError, OSError, TimeoutError) as error:
        raise NodeUnreachable(_first_line(error)) from None


async def ask_disk(remote: NodeRemote, address: str, folder: str) -> DiskUsage:
    """How full a folder of a pod is; NodeUnreachable if its sidecar does not tell."""
    connection = remote.connect(address, HEALTH_PORT)
    try:
        _, body = await connection.get("/disk", {"dir": folder}, DISK_SECONDS)
        usage = decode_answer(body, DiskUsage)
    except (TransportError, OSError, TimeoutError) as error:
        raise NodeUnreachable(_first_line(error)) from None
    except MalformedStatus:
        raise NodeUnreachable("the sidecar told no disk usage") from None
    finally:
        await connection.close()
    if usage.error or usage.all_bytes <= 0 or not 0 <= usage.free_bytes <= usage.all_bytes:
        raise NodeUnreachable(one_line(usage.error) or "the sidecar told no sizes")
    return usage


async def ask_once(remote: NodeRemote, address: str, port: int, path: str) -> bytes:
    """What a port of a pod answers to one question; NodeUnreachable if it does not, or refuses."""
    connection = remote.connect(address, port)
    try:
        code, body = await connection.get(path, {}, ANSWER_SECONDS)
    except (TransportError, OSError, TimeoutError) as error:
        raise NodeUnreachable(_first_line(error)) from None
    finally:
        await connection.close()
    if code != HTTPStatus.OK:
        raise NodeUnreachable(f"HTTP {int(code)}")
    return body


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return one_line(lines[0] if lines else type(error).__name__)
