"""GET of a URL by a program in a pod: a whole answer of bounded size, or one read as it comes.

Who writes a spec names the URL, and need not be allowed to ask what only the node reaches: special
addresses are refused, redirects to them, too.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from urllib.parse import SplitResult, urlsplit

from quintant.http.client_connection import ClientConnection, ConnectionBroken, ResponseTooLarge
from quintant.http.encode_request import encode_request, header_line
from quintant.http.head import ProtocolError, ResponseHead
from quintant.http.special_addresses import resolve_host

CONNECT_SECONDS = 10.0
_PORTS = {"http": 80, "https": 443}
FAILURES = (ConnectionBroken, ProtocolError, ResponseTooLarge, OSError, TimeoutError)


@dataclass(frozen=True, slots=True)
class GetTarget:
    """Where a URL leads."""

    secured: bool
    host: str
    port: int
    path: str
    """With its query."""

    @classmethod
    def of(cls, url: str) -> GetTarget:
        """The target of a URL; ValueError if it is none of http or https."""
        parts: SplitResult = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError("it is no URL of http or https")
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        port = parts.port or _PORTS[parts.scheme]
        return cls(parts.scheme == "https", parts.hostname, port, path)

    def encode(self) -> bytes:
        """The request."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = self.port == _PORTS["https" if self.secured else "http"]
        lines = {
            "Host": host if usual else f"{host}:{self.port}",
            "Accept": "*/*",
            "Accept-Encoding": "identity",
            "User-Agent": "quintant-agent",
        }
        headers = "".join(header_line(name, value) for name, value in lines.items())
        return encode_request("GET", self.path, headers, None)


async def get(target: GetTarget, *, seconds: float, most: int) -> tuple[int, bytes]:
    """Status and body of an answer; one of FAILURES if there is none within that."""
    async with asyncio.timeout(seconds), _connected(target) as connection:
        head, body = await connection.request("GET", target.encode(), most=most, seconds=seconds)
        return head.status, body


@asynccontextmanager
async def opened(target: GetTarget) -> AsyncIterator[tuple[ResponseHead, ClientConnection]]:
    """An answer whose body is still to be read."""
    async with _connected(target) as connection:
        async with asyncio.timeout(CONNECT_SECONDS):
            head = await connection.open("GET", target.encode())
        yield head, connection


def why(error: BaseException) -> str:
    """What went wrong, in words for a log."""
    match error:
        case TimeoutError():
            return "no answer in time"
        case ConnectionBroken():
            return "the connection broke off before the whole answer"
        case ResponseTooLarge():
            return f"the answer is larger than {error.most} bytes"
        case ProtocolError():
            return "what answers there is not HTTP"
        case OSError():
            message = getattr(error, "verify_message", "") or error.strerror
            return str(message or type(error).__name__)
    return str(error) or type(error).__name__


@asynccontextmanager
async def _connected(target: GetTarget) -> AsyncIterator[ClientConnection]:
    async with asyncio.timeout(CONNECT_SECONDS):
        connection = await _connect(target)
    try:
        yield connection
    finally:
        connection.close()


async def _connect(target: GetTarget) -> ClientConnection:
    """To the first address of a host that takes a connection; OSError if none does."""
    loop, failure = asyncio.get_running_loop(), OSError("it has no address")
    for address, port in await resolve_host(target.host, target.port, guarded=True):
        try:
            _, connection = await loop.create_connection(
                lambda: ClientConnection(lambda _: None),
                address,
                port,
                ssl=_trust() if target.secured else None,
                server_hostname=target.host if target.secured else None,
            )
        except OSError as error:
            failure = error
        else:
            return connection
    raise failure


@cache
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()
