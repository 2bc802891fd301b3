"""The process looks healthy, but the watch of one kind is dead and nobody is told.

Permissions are lost, the server fails or throttles, a proxy talks nonsense: the watch must outlive
it all, the other kinds must go on, and the readiness probe must name the kind meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from quintant.api.core import ConfigMap
from quintant.runtime.manager.engine import Engine
from quintant.testing import InProcessCluster, watch
from scenarios.greeter import Greeter, greeter, greeter_manager
from scenarios.metrics_and_probes import unready

CHILDREN = watch(ConfigMap)
# A stream that has failed for 5 s is named.
NAMED_SECONDS = 5.1
# The longest pause between two attempts, and a moment for the attempt.
BACKOFF_SECONDS = 31
LONG_SECONDS = 600

Trouble = Callable[[InProcessCluster], AbstractAsyncContextManager[None]]


def answering(status: int) -> Trouble:
    @asynccontextmanager
    async def trouble(cluster: InProcessCluster) -> AsyncIterator[None]:
        with cluster.faults.answer(status, when=CHILDREN):
            assert cluster.faults.fail(status, CHILDREN) == 1
            yield

    return trouble


@asynccontextmanager
async def throttling(cluster: InProcessCluster) -> AsyncIterator[None]:
    fault = cluster.faults.answer(429, retry_after=3, when=CHILDREN, times=50)
    cluster.faults.cut(CHILDREN)
    yield
    while not fault.spent:
        await cluster.advance(1)


@asynccontextmanager
async def refusing(cluster: InProcessCluster) -> AsyncIterator[None]:
    with cluster.faults.refuse(CHILDREN):
        cluster.faults.cut(CHILDREN)
        yield


@asynccontextmanager
async def babbling(cluster: InProcessCluster) -> AsyncIterator[None]:
    async def babble() -> None:
        while True:
            cluster.faults.garble(CHILDREN)
            await asyncio.sleep(0.5)

    task = asyncio.ensure_future(babble())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


TROUBLES: dict[str, Trouble] = {
    "forbidden": answering(403),
    "failing": answering(500),
    "throttled": throttling,
    "garbled": babbling,
    "unauthorized": answering(401),
    "uninstalled": answering(404),
    "refused": refusing,
}


async def endure(cluster: InProcessCluster, engine: Engine, name: str) -> None:
    """Live through one trouble: it is named, contained, and over when it is over."""
    await cluster.create(greeter(f"{name}-1"))
    child = await cluster.eventually(ConfigMap, f"{name}-1")

    async with TROUBLES[name](cluster):
        await cluster.advance(NAMED_SECONDS)
        assert list(await unready(engine)) == ["configmaps"]
        await cluster.create(greeter(f"{name}-2"))
        await cluster.eventually(Greeter, f"{name}-2", until=lambda it: it.status is not None)
        await cluster.advance(LONG_SECONDS)
        assert list(await unready(engine)) == ["configmaps"]
        await cluster.client.delete(child)

    await cluster.advance(BACKOFF_SECONDS)
    assert not await unready(engine)
    await cluster.get(ConfigMap, f"{name}-1")  # the lost child was noticed and made again


@pytest.mark.parametrize("name", TROUBLES)
async def test_failing_watch_is_named_contained_and_healed(
    cluster: InProcessCluster, name: str
) -> None:
    engine = await cluster.run(greeter_manager())
    await endure(cluster, engine, name)


async def test_no_trouble_of_a_long_row_ends_the_watch(cluster: InProcessCluster) -> None:
    engine = await cluster.run(greeter_manager())
    for name in TROUBLES:
        await endure(cluster, engine, name)


async def test_short_interruption_does_not_turn_the_probe_red(cluster: InProcessCluster) -> None:
    engine = await cluster.run(greeter_manager())
    for _ in range(10):
        cluster.faults.cut(CHILDREN)
        for _ in range(10):
            await cluster.advance(0.5)
            assert not await unready(engine)
        await cluster.advance(300)
