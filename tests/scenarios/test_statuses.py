"""One status, many writers, on the embedded API server: every field keeps its own last value."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from quintant.client.rest import Rest
from quintant.core.clock import Random
from quintant.core.errors import Conflict
from quintant.core.object import Custom, Model, Request
from quintant.core.resource import resource
from quintant.runtime.cache.caches import Caches
from quintant.runtime.cache.client import Client
from quintant.runtime.reconcile.status_writer import StatusWriter
from quintant.testing import InProcessCluster, named
from quintant.testing.faults.match import kind, verb, watch

UPDATES = 20
KEY = Request("node", "default")


class NodeStatus(Model):
    phase: str = ""
    entries: Mapping[str, int] = {}
    height: Mapping[str, int] = {}


@resource(group="test.quintant.dev", version="v1", plural="fullnodes", status=True)
class FullNode(Custom[Model, NodeStatus]):
    """Has a status that three controllers and a sidecar write."""


Change = Callable[[NodeStatus | None], NodeStatus]


def put(name: str, value: int) -> Change:
    def change(status: NodeStatus | None) -> NodeStatus:
        old = status or NodeStatus()
        return NodeStatus(phase=old.phase, entries={**old.entries, name: value}, height=old.height)

    return change


def drop(name: str) -> Change:
    def change(status: NodeStatus | None) -> NodeStatus:
        old = status or NodeStatus()
        entries = {key: value for key, value in old.entries.items() if key != name}
        return NodeStatus(phase=old.phase, entries=entries, height=old.height)

    return change


async def stubborn(writer: StatusWriter, change: Change) -> None:
    while True:
        try:
            await writer.update(FullNode, KEY, change)
        except Conflict:
            continue
        return


async def start(cluster: InProcessCluster) -> None:
    await cluster.create(FullNode(metadata=named("node"), spec=Model()))


async def status(cluster: InProcessCluster) -> NodeStatus:
    return (await cluster.get(FullNode, "node")).status or NodeStatus()


async def test_three_controllers_and_a_sidecar_lose_nothing(cluster: InProcessCluster) -> None:
    await start(cluster)
    client = Client(Rest(cluster.faults), manager="fullnode")
    writer = StatusWriter(client, cluster.environment().random)
    cluster.faults.delay(0.01, verb("get") & kind(FullNode))
    cluster.faults.answer(409, when=kind(FullNode, sub="status"), skip=7, times=3)

    async def controller(name: str) -> None:
        for value in range(UPDATES):
            await stubborn(writer, put(name, value))

    async def sidecar() -> None:
        node = await cluster.get(FullNode, "node")
        for value in range(UPDATES):
            await asyncio.sleep(0.007)
            await cluster.client.subresource(node, "status").patch(
                {"status": {"height": {"p": value}}}
            )

    async with asyncio.TaskGroup() as group:
        for name in ("fullnode", "snapshot", "healing"):
            group.create_task(controller(name))
        group.create_task(sidecar())

    last = UPDATES - 1
    found = await status(cluster)
    assert found.entries == {"fullnode": last, "snapshot": last, "healing": last}
    assert found.height == {"p": last}
    outcomes = {sent.outcome for sent in cluster.faults.seen(kind(FullNode, sub="status"))}
    assert outcomes == {200, 409}


async def test_a_removed_entry_stays_removed_though_the_cache_is_behind(
    cluster: InProcessCluster,
) -> None:
    await start(cluster)
    rest = Rest(cluster.faults)
    caches = Caches(rest, Random())
    informer = caches.declare(FullNode)
    running = asyncio.ensure_future(informer.run())
    await informer.wait_synced()
    writer = StatusWriter(Client(rest, caches))

    with cluster.faults.stall(watch(FullNode)):
        await writer.update(FullNode, KEY, put("candidate", 1))
        await cluster.advance(12)  # the cache no longer believes what only we have seen
        cached = informer.store.get(KEY)
        assert cached is not None
        assert cached.status is None
        await writer.update(FullNode, KEY, drop("candidate"))
        assert (await status(cluster)).entries == {}
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_an_update_of_nothing_reads_and_does_not_write(cluster: InProcessCluster) -> None:
    await start(cluster)
    writer = StatusWriter(Client(Rest(cluster.faults)))
    await writer.update(FullNode, KEY, put("a", 1))
    await writer.update(FullNode, KEY, put("a", 1))
    assert len(cluster.faults.seen(verb("patch"))) == 1
