"""How a request reaches an API server: two methods, so that there can be several ways.

`HttpTransport` (quintant.client.http.transport) speaks HTTP over the network; `InProcessTransport`
calls an embedded server directly; `FaultTransport` (quintant.testing.faults.transport) wraps
either. Nothing above this module knows which.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol
from urllib.parse import urlencode

from msgspec import Struct, field
from msgspec.structs import replace

JSON = "application/json"


class ApiRequest(Struct, frozen=True):
    """One request: what the server sees, before authentication."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    timeout: float | None = None
    """Seconds for the whole answer; None lets the transport decide. Streams have no limit."""
    idempotent: bool = False
    """A PATCH that does no harm when sent twice; GET and DELETE never do."""
    fence: Callable[[ApiRequest], None] | None = None
    """Asked in the step that hands the bytes over, on every try; what it raises is raised."""
    gather: float = 0.0
    """Seconds for which a stream that is busy may be left unread, to be read in larger pieces."""

    @property
    def target(self) -> str:
        """Path and query, as written in a request line."""
        return f"{self.path}?{_encoded(tuple(self.query.items()))}" if self.query else self.path

    def __str__(self) -> str:
        return f"{self.method} {self.target}"


@lru_cache(maxsize=256)  # a program's writes have few different queries
def _encoded(query: tuple[tuple[str, str], ...]) -> str:
    return urlencode(query)


class ApiResponse(Struct, frozen=True):
    """A whole answer. Header names are lower case."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class ApiStream(Struct, frozen=True):
    """An answer that continues: `chunks` yields bytes as they come, cut anywhere."""

    status: int
    chunks: AsyncIterator[bytes]
    headers: Mapping[str, str] = field(default_factory=dict)


class Transport(Protocol):
    """A way to an API server.

    One that hands requests over itself, and to no other transport, asks `call.fence` right before.
    """

    async def request(self, call: ApiRequest) -> ApiResponse:
        """Send and wait for the whole answer, whatever its status.

        Raises TransportError, and what the fence of the call raises.
        """

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        """Send and read the answer as it comes; leaving the context closes the connection."""

    async def close(self) -> None:
        """Release connections."""


class ApiHandler(Protocol):
    """An API server that can be called in this process; the embedded cluster is one."""

    async def request(self, call: ApiRequest) -> ApiResponse: ...

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]: ...


@dataclass(frozen=True, slots=True)
class InProcessTransport:
    """Straight into an embedded API server: no sockets, no threads, same bytes."""

    handler: ApiHandler
    token: str = ""

    async def request(self, call: ApiRequest) -> ApiResponse:
        if call.fence is not None:
            call.fence(call)
        return await self.handler.request(self._signed(call))

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        return self.handler.stream(self._signed(call))

    async def close(self) -> None:
        """Nothing to release."""

    def _signed(self, call: ApiRequest) -> ApiRequest:
        if not self.token:
            return call
        return replace(call, headers={**call.headers, "authorization": f"Bearer {self.token}"})
