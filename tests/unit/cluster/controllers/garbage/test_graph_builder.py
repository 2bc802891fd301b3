"""Resources are followed as they come and go, each by a watch of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from quintant.client.rest import Rest
from quintant.cluster.controllers.garbage.graph_builder import SYNC_SECONDS, GraphBuilder
from quintant.core.clock import Random
from quintant.core.object import Request
from quintant.core.resource import Resource
from quintant.runtime.workqueue.workqueue import Workqueue
from unit.cluster.api import CMS, Api, JsonObject, api, config_map
from unit.cluster.controllers.running_controllers import owner

MAPS = Resource("", "v1", "ConfigMap", "configmaps")
NOTHING = Resource("example.com", "v1", "Nothing", "nothings")


@asynccontextmanager
async def following(
    client: Api, *resources: Resource
) -> AsyncIterator[tuple[GraphBuilder, Workqueue[Request]]]:
    queue: Workqueue[Request] = Workqueue()
    made = GraphBuilder(queue)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(made.run())
        await asyncio.sleep(0)
        for resource in resources:
            made.start_monitor(resource, Rest(client.transport), Random())
        await asyncio.sleep(1)
        yield made, queue
        task.cancel()


async def woken(queue: Workqueue[Request]) -> set[str]:
    """The uids that are to be looked at."""
    found = set()
    while len(queue):
        lease = await queue.get()
        assert lease is not None
        queue.done(lease.key)
        found.add(lease.key.name)
    return found


async def pair(client: Api) -> tuple[JsonObject, JsonObject]:
    a = await client.create(CMS, config_map("a"))
    return a, await client.create(CMS, config_map("b", ownerReferences=[owner(a)]))


async def test_nothing_is_looked_at_while_owners_may_still_be_read() -> None:
    client = api()
    _, b = await pair(client)
    async with following(client, MAPS) as (_, queue):
        assert await woken(queue) == set()
        await client.delete(f"{CMS}/a")
        await asyncio.sleep(1)
        assert await woken(queue) == {b["metadata"]["uid"]}


async def test_resource_that_cannot_be_read_holds_up_the_others_for_a_while_only() -> None:
    client = api()
    _, b = await pair(client)
    async with following(client, MAPS, NOTHING) as (made, queue):
        await client.delete(f"{CMS}/a")
        assert await woken(queue) == set()
        await asyncio.sleep(SYNC_SECONDS)
        assert await woken(queue) == {b["metadata"]["uid"]}
        assert made.missing == {"nothings.example.com"}


async def test_objects_of_a_resource_that_is_gone_are_gone() -> None:
    client = api()
    a, b = await pair(client)
    async with following(client, MAPS) as (made, queue):
        made.stop_monitor(MAPS, gone=True)
        assert made.graph.get(a["metadata"]["uid"]) is None
        assert await woken(queue) == {b["metadata"]["uid"]}


async def test_objects_of_a_resource_out_of_sight_are_not_gone() -> None:
    client = api()
    a, _ = await pair(client)
    async with following(client, MAPS) as (made, queue):
        made.stop_monitor(MAPS, gone=False)
        assert made.graph.get(a["metadata"]["uid"]) is not None
        assert await woken(queue) == set()
        assert not made.monitored
