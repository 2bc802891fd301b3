"""A client of another cluster beside that of our own: the same transport, with bounds on all of it.

    config = Config.from_bytes(secret.reveal("value"), source=f"Secret {secret.key}")
    async with remote_client(ctx.client, config, label="target") as target:
        nodes = await target.list(Node)

The other cluster may be slow, broken or hostile: an answer has a size, a list a number of pages, a
call an end with all its tries, whatever the server asks for. Its requests are counted apart.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct, field
from msgspec.structs import replace

from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport, TransportLimits
from quintant.client.rest import ClientObserver, Rest
from quintant.client.retry import with_retries
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, Transport
from quintant.core.errors import TransportError
from quintant.runtime.cache.client import Client


class RemoteLimits(Struct, frozen=True):
    """What another cluster may cost us."""

    answer: float = 30.0
    """Seconds for a call, all its tries together: a busy worker waits for it."""
    size: int = 16 * 1024 * 1024
    """Bytes of one answer; a page of 500 nodes of 30 KiB fits."""
    pages: int = 20
    """Pages of one list: 10,000 objects."""
    stream: int = 256 * 1024 * 1024
    """Bytes of one stream, or of a list page by page; a watch is then opened again."""
    objects: int = 200_000
    """Objects in the caches of a cluster that is worked in, all kinds together."""


@asynccontextmanager
async def remote_client(
    near: Client, config: Config, *, label: str, limits: RemoteLimits = RemoteLimits()
) -> AsyncIterator[Client]:
    """A client of the cluster of `config`, for as long as the context lasts.

    `label` is the host of its series: one word for all clusters of a kind, since each word is a
    series of its own. It writes as `near` does, and only while `near` may.
    """
    transport = HttpTransport(
        config, limits=TransportLimits(answer=limits.answer, size=limits.size)
    )
    observer = near.rest.observer
    counts = observer.of_host(label) if isinstance(observer, ClientObserver) else None
    patient = with_retries(transport, near.random, observer=counts)

    def fence(_: ApiRequest | None = None, /) -> None:
        near.fence()  # what is written there is no object of ours

    try:
        yield Client(
            Rest(BoundedTransport(patient, limits), counts, limits.answer, fence),
            None,
            near.manager,
            random=near.random,
            most_pages=limits.pages,
        )
    finally:
        await transport.close()


class BoundedTransport(Struct, frozen=True):
    """A transport whose calls and streams end, whatever the server does."""

    inner: Transport
    limits: RemoteLimits
    listed: dict[str, int] = field(default_factory=dict)
    """Bytes of the pages so far, by the path of a list that is not at its end."""

    async def request(self, call: ApiRequest) -> ApiResponse:
        seconds = min(call.timeout or self.limits.answer, self.limits.answer)
        reply = await self.inner.request(replace(call, timeout=seconds))
        if "limit" in call.query:
            self._count_page(call, len(reply.body))
        return reply

    def _count_page(self, call: ApiRequest, size: int) -> None:
        before = self.listed.pop(call.path, 0) if "continue" in call.query else 0
        if before + size > self.limits.stream:
            self.listed.pop(call.path, None)
            raise TransportError(f"{call.path}: a list has more than {self.limits.stream} bytes")
        self.listed[call.path] = before + size

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        async with self.inner.stream(call) as stream:
            yield replace(stream, chunks=self._counted(call, stream.chunks))

    async def close(self) -> None:
        await self.inner.close()

    async def _counted(
        self, call: ApiRequest, chunks: AsyncIterator[bytes]
    ) -> AsyncIterator[bytes]:
        left = self.limits.stream
        async for chunk in chunks:
            left -= len(chunk)
            if left < 0:
                raise TransportError(
                    f"{call}: the stream brought more than {self.limits.stream} bytes"
                )
            yield chunk
