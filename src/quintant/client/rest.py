"""Typed requests to an API server, without cache: one method per verb, errors as one tree.

Sits on a Transport and below the Client. Who must not be torn from a write by cancellation wraps
it in `uninterrupted`, together with what is to be done when it has succeeded.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Protocol, TypeVar, runtime_checkable

from msgspec import Struct, field

from quintant.client.api_time import add_api_time
from quintant.client.fence import Fence
from quintant.client.retry import NO_ANSWER, RetryObserver
from quintant.client.transport import JSON, ApiRequest, ApiResponse, Transport
from quintant.core import codec
from quintant.core.clock import monotonic
from quintant.core.codec import Page
from quintant.core.errors import (
    ConfigError,
    ObjectIdentity,
    TransportError,
    Undecodable,
    from_reply,
)
from quintant.core.object import K, Object, Request
from quintant.core.resource import Resource, resource_of

MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"

# Objects asked for at once in a list, as other clients do.
PAGE_SIZE = 500
# A write under way when its reconcile is cancelled may take this long to end.
GRACE_SECONDS = 5.0
# An error body longer than this, or one that takes longer to come, says nothing useful.
ERROR_BYTES = 64 * 1024
ERROR_SECONDS = 10.0

T = TypeVar("T")
_PLAIN = {"accept": JSON}
_PARTIAL = {"accept": f"{JSON};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}
_PARTIAL_LIST = {"accept": f"{JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}
_BODIES = {
    kind: {"accept": JSON, "content-type": kind} for kind in (JSON, MERGE, JSON_PATCH, APPLY)
}


class Patch(Struct, frozen=True):
    """A change to send: its format, its bytes, and whether sending it twice does no harm."""

    kind: str
    body: bytes
    idempotent: bool = False


class RequestObserver(Protocol):
    """Who counts requests."""

    def requested(
        self, method: str, code: int | str, seconds: float, *, sent: int = 0, received: int = 0
    ) -> None: ...


@runtime_checkable
class ClientObserver(RequestObserver, RetryObserver, Protocol):
    """Who counts requests and retries, apart for each server."""

    def of_host(self, host: str) -> ClientObserver:
        """Who counts those to another server."""


class Rest(Struct, frozen=True):
    """The verbs of the API, typed."""

    transport: Transport
    observer: RequestObserver | None = None
    write_timeout: float | None = None
    """Seconds that a write may take, all tries together; None leaves it to the transport.

    A leader's writes must end before a standby may claim its lease.
    """
    fence: Fence | None = None
    """Refuses writes in the step in which they would leave; None lets all of them pass."""
    write_query: Mapping[str, str] = field(default_factory=dict)
    """What the query of every write says beside its own."""

    async def get(self, kind: type[K], key: Request) -> K:
        """Read one object from the server."""
        resource = resource_of(kind)
        headers = _PARTIAL if resource.metadata_only else _PLAIN
        reply = await self.send(ApiRequest("GET", object_path(resource, key), headers=headers))
        return codec.decode(kind, reply.body)

    async def list_page(self, kind: type[K], namespace: str, query: Mapping[str, str]) -> Page:
        """Read one page of a list, its items undecoded."""
        resource = resource_of(kind)
        headers = _PARTIAL_LIST if resource.metadata_only else _PLAIN
        reply = await self.send(ApiRequest("GET", resource.path(namespace), query, headers))
        return codec.decode_page(kind, reply.body)

    async def newest_version(
        self, kind: type[Object], namespace: str, query: Mapping[str, str]
    ) -> str:
        """The resource version that the server is at: a consistent read of one object's metadata.

        What a server answers without a version is Undecodable.
        """
        path, short = resource_of(kind).path(namespace), {**query, "limit": "1"}
        reply = await self.send(ApiRequest("GET", path, short, _PARTIAL_LIST))
        version = codec.decode_page(kind, reply.body).metadata.resource_version
        if not version:
            identity = ObjectIdentity(f"{resource_of(kind).kind}List")
            raise Undecodable(identity, "it has no resourceVersion")
        return version

    def watch(
        self, kind: type[K], namespace: str, query: Mapping[str, str], *, gather: float = 0.0
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Open a watch; yields chunks of newline-framed events, cut anywhere.

        One that is busy may be read every `gather` seconds, and no more often.
        """
        resource = resource_of(kind)
        headers = _PARTIAL if resource.metadata_only else _PLAIN
        path, whole = resource.path(namespace), {**query, "watch": "1"}
        return self.stream(ApiRequest("GET", path, whole, headers, gather=gather))

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[AsyncIterator[bytes]]:
        """Send a request whose answer continues: its chunks; anything but 200 is raised."""
        began, code = monotonic(), None
        try:
            async with self.transport.stream(call) as stream:
                code = stream.status
                self._count(call, monotonic() - began, code)
                if code != 200:
                    body = await _gather(stream.chunks)
                    raise from_reply(code, body, str(call), stream.headers.get("retry-after", ""))
                yield stream.chunks
        except TransportError:
            if code is None:  # not one that broke later, which has been counted
                self._count(call, monotonic() - began, NO_ANSWER)
            raise

    async def create(self, obj: K, query: Mapping[str, str]) -> bytes:
        """POST an object; returns the stored form, undecoded."""
        resource, meta = resource_of(type(obj)), obj.metadata
        path = resource.path(_placed(resource, meta.name or meta.generate_name, meta.namespace))
        body = codec.encode_object(obj)
        return (await self.send(self.write_call("POST", path, query, _BODIES[JSON], body))).body

    async def patch(
        self,
        kind: type[Object],
        key: Request,
        patch: Patch,
        *,
        sub: str = "",
        query: Mapping[str, str],
    ) -> bytes:
        """PATCH an object or a subresource; returns the stored form, undecoded."""
        path = object_path(resource_of(kind), key, sub)
        call = self.write_call(
            "PATCH", path, query, _BODIES[patch.kind], patch.body, patch.idempotent
        )
        return (await self.send(call)).body

    async def delete(self, kind: type[Object], key: Request, options: Mapping[str, Any]) -> bytes:
        """DELETE an object; returns what the server says of it, undecoded."""
        path = object_path(resource_of(kind), key)
        call = self.write_call("DELETE", path, {}, _BODIES[JSON], codec.encode(options))
        return (await self.send(call)).body

    async def delete_all(
        self, kind: type[Object], namespace: str, query: Mapping[str, str], body: Mapping[str, Any]
    ) -> None:
        """DELETE every object that the query selects."""
        resource = resource_of(kind)
        path = resource.path(_placed(resource, "objects", namespace))
        data = codec.encode(body)
        await self.send(self.write_call("DELETE", path, query, _BODIES[JSON], data))

    def write_call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        headers: Mapping[str, str],
        body: bytes | None,
        idempotent: bool = False,
    ) -> ApiRequest:
        """A request that writes: with the limit of time, and the fence, that all writes have."""
        whole = {**query, **self.write_query}
        limit, fence = self.write_timeout, self.fence
        return ApiRequest(method, path, whole, headers, body, limit, idempotent, fence)

    async def send(self, call: ApiRequest) -> ApiResponse:
        """Send any request; anything but a 2xx answer is raised."""
        began = monotonic()
        try:
            reply = await self.transport.request(call)
        except TransportError:
            self._count(call, monotonic() - began, NO_ANSWER)
            raise
        finally:  # a reconcile that is cut short has waited, too
            took = monotonic() - began
            add_api_time(took)
        self._count(call, took, reply.status, len(reply.body))
        if not 200 <= reply.status < 300:
            retry_after = reply.headers.get("retry-after", "")
            raise from_reply(reply.status, reply.body, str(call), retry_after)
        return reply

    def _count(self, call: ApiRequest, took: float, code: int | str, received: int = 0) -> None:
        if self.observer is not None:
            sent = len(call.body or b"")
            self.observer.requested(call.method, code, took, sent=sent, received=received)


async def uninterrupted(work: Coroutine[Any, Any, T]) -> T:
    """Await a write; when cancelled, give it GRACE_SECONDS to end before giving it up.

    So a reconcile that times out leaves a world that it knows.
    """
    loop = asyncio.get_running_loop()
    task, ended = loop.create_task(work), loop.create_future()
    # What asyncio.shield does, without its generality: this is on the path of every write.
    task.add_done_callback(lambda _: None if ended.done() else ended.set_result(None))
    try:
        await ended
        return task.result()
    except asyncio.CancelledError:
        task.add_done_callback(_retrieve)
        try:
            await asyncio.wait({task}, timeout=GRACE_SECONDS)
        finally:
            task.cancel()
        raise


def located(resource: Resource, name: str, namespace: str) -> Request:
    """The key of one object of a kind; ConfigError if it could be no single one.

    An empty name would address all objects of the kind, and an empty namespace none.
    """
    if not name:
        raise _nameless(resource)
    return Request(name, _placed(resource, name, namespace))


def object_path(resource: Resource, key: Request, sub: str = "") -> str:
    """The URL path of one object, or of one of its subresources."""
    if not key.name:
        raise _nameless(resource)
    return resource.path(_placed(resource, key.name, key.namespace), key.name, sub)


def _nameless(resource: Resource) -> ConfigError:
    return ConfigError(f"cannot address a {resource.kind} without a name")


def _placed(resource: Resource, name: str, namespace: str) -> str:
    """The namespace of an object; a kind without namespaces has none, whatever is asked for."""
    if resource.namespaced and not namespace:
        raise ConfigError(
            f"cannot address {resource.kind} {name} without a namespace",
            because=f"{resource.plural} live in namespaces",
        )
    return namespace if resource.namespaced else ""


def _retrieve(task: asyncio.Future[Any]) -> None:
    """Look at the outcome of a write whose caller is gone, for no other code will."""
    if not task.cancelled():
        task.exception()


async def _gather(chunks: AsyncIterator[bytes]) -> bytes:
    body = b""
    with suppress(TimeoutError):
        async with asyncio.timeout(ERROR_SECONDS):
            async for chunk in chunks:
                body += chunk
                if len(body) > ERROR_BYTES:
                    break
    return body
