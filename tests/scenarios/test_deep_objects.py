"""One object that nobody can decode keeps no other of its kind from being followed.

A custom kind may carry what it likes (x-kubernetes-preserve-unknown-fields), as deep as the server
takes it: deeper than a decoder that follows the nesting can go.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace

from quintant import Context, Custom, Manager, Model, Opaque, Request, resource
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, Transport
from quintant.runtime.manager.engine import Engine
from quintant.testing import InProcessCluster, named
from quintant.testing.faults.match import RequestMatch

DEPTHS = [300, 900, 1_000, 2_000, 9_000]
PATH = "/apis/deep.dev/v1/namespaces/default/wells"
MARK = b'"to be deep"'


class DeepServer:
    """The embedded server, as one that took an object as deep as Kubernetes' own server does."""

    def __init__(self, inner: Transport, depth: int) -> None:
        self.inner = inner
        self._payload = b'{"a":' * depth + b"1" + b"}" * depth

    async def request(self, call: ApiRequest) -> ApiResponse:
        answer = await self.inner.request(call)
        return replace(answer, body=self._deepened(answer.body))

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        async with self.inner.stream(call) as stream:
            yield replace(stream, chunks=self._chunks(stream.chunks))

    async def close(self) -> None:
        await self.inner.close()

    async def _chunks(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            yield self._deepened(chunk)

    def _deepened(self, body: bytes) -> bytes:
        return body.replace(MARK, self._payload)


class Spec(Model):
    depth: int = 0
    payload: Opaque = Opaque(b"{}")


class Status(Model):
    measured: int = 0


@resource(group="deep.dev", version="v1", status=True)
class Well(Custom[Spec, Status]): ...


@pytest.fixture(autouse=True)
def operator_limit(cluster: InProcessCluster) -> Iterator[None]:
    """The recursion of a process without an embedded server, which raises it for its own sake."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)
    yield
    sys.setrecursionlimit(before)


async def dig(cluster: InProcessCluster) -> None:
    """Create the object that the managers see as a deep one."""
    await cluster.create(
        Well(
            metadata=named("deep", labels={"a": "b"}),
            spec=Spec(payload=Opaque(b'{"a":' + MARK + b"}")),
        )
    )


async def run(cluster: InProcessCluster, depth: int) -> Engine:
    manager = Manager("measurer")
    manager.controls(Well).reconcile(measure)
    environment = cluster.environment()
    server = DeepServer(environment.transport, depth)
    return await cluster.run(manager, environment=replace(environment, transport=server))


streams_state = RequestMatch(lambda call: "sendInitialEvents" in call.query)


async def measure(well: Well, ctx: Context[Well]) -> None:
    await ctx.set_status(Status(measured=well.spec.depth))


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("depth", DEPTHS)
async def test_others_are_followed_beside_an_object_of_any_depth(
    cluster: InProcessCluster, depth: int, streaming: bool
) -> None:
    await dig(cluster)
    await cluster.create(Well(metadata=named("before"), spec=Spec(depth=1)))
    if not streaming:
        cluster.faults.answer(400, when=streams_state)
    engine = await run(cluster, depth)
    await cluster.create(Well(metadata=named("after"), spec=Spec(depth=2)))
    for name in ("before", "after"):
        await cluster.eventually(Well, name, until=lambda well: well.status is not None)
    (informer,) = engine.caches.informers_for(Well)
    assert Request("deep", "default") in informer.undecodable or depth < 1_000
    assert set(informer.undecodable) | {each.key for each in informer.store} == {
        Request(name, "default") for name in ("deep", "before", "after")
    }


@pytest.mark.parametrize("depth", DEPTHS)
async def test_deep_object_that_comes_later_does_not_end_the_watch(
    cluster: InProcessCluster, depth: int
) -> None:
    engine = await run(cluster, depth)
    await dig(cluster)
    await cluster.create(Well(metadata=named("after"), spec=Spec(depth=2)))
    await cluster.eventually(Well, "after", until=lambda well: well.status is not None)
    (informer,) = engine.caches.informers_for(Well)
    assert all(not reflector.trouble for reflector in informer.reflectors)
    restarts = engine.metrics.registry.value(
        "quintant_watch_restarts_total", {"kind": "wells.deep.dev", "reason": "error"}
    )
    assert not restarts


@pytest.mark.parametrize("depth", [2_000])
async def test_deep_object_is_known_by_its_metadata_and_forgotten_when_it_is_gone(
    cluster: InProcessCluster, depth: int
) -> None:
    await dig(cluster)
    engine = await run(cluster, depth)
    (informer,) = engine.caches.informers_for(Well)
    (unfit,) = informer.undecodable.values()
    assert unfit.meta.labels == {"a": "b"}
    assert unfit.meta.uid
    await cluster.admin.request(ApiRequest("DELETE", f"{PATH}/deep"))
    await cluster.advance(1)
    assert informer.undecodable == {}
