from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from quintant.api.core import ConfigMap, Namespace
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import LoopClock, Random
from quintant.core.object import ObjectMeta
from quintant.runtime.cache.caches import Caches
from quintant.runtime.cache.client import Client
from quintant.runtime.shard.fill import fill_caches
from quintant.testing import named
from quintant.testing.faults.match import kind, verb, watch
from quintant.testing.faults.transport import FaultTransport
from quintant.testing.loop import advance
from unit.runtime.kinds import Ship


class Follower:
    """A process whose caches follow a server, and somebody else who writes there."""

    def __init__(self) -> None:
        server = InProcessTransport(ApiServer(clock=LoopClock(), random=Random(1)))
        self.others = Client(Rest(server), manager="others")
        self.faults = FaultTransport(server)
        self.rest = Rest(self.faults)
        self.caches = Caches(self.rest, Random(0))

    async def create(self, name: str, namespace: str = "default") -> None:
        await self.others.create(ConfigMap(metadata=named(name, namespace), data={"text": "hi"}))

    async def delete(self, name: str) -> None:
        await self.others.delete(ConfigMap(metadata=named(name)))

    def begin(self) -> asyncio.Task[None]:
        return asyncio.create_task(fill_caches(self.rest, self.caches, Random(0)))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The caches follow, and are complete."""
        running = [asyncio.create_task(informer.run()) for informer in self.caches]
        for informer in self.caches:
            await informer.wait_synced()
        yield
        for task in running:
            task.cancel()
        await asyncio.wait(running)


@pytest.fixture
async def follower() -> Follower:
    follower = Follower()
    for name in ("a", "b"):
        await follower.create(name)
    follower.caches.declare(ConfigMap)
    return follower


async def test_caches_that_have_everything_are_full_at_once(follower: Follower) -> None:
    async with follower.running():
        await fill_caches(follower.rest, follower.caches, Random(0))

        (read,) = follower.faults.seen(verb("list"))
        assert read.call.query["limit"]
        assert "resourceVersion" not in read.call.query, "it is a consistent read"


@pytest.mark.parametrize("change", ["create", "delete", "replace"])
async def test_what_was_written_before_is_waited_for_and_nothing_after(
    follower: Follower, change: str
) -> None:
    async with follower.running():
        with follower.faults.stall(watch(ConfigMap)):
            if change == "create":
                await follower.create("c")
            else:
                await follower.delete("a")
            if change == "replace":
                await follower.create("a")
            filling = follower.begin()
            await advance(30)
            assert not filling.done()
        await advance(1)

        assert filling.done()


async def test_an_object_that_is_deleted_while_it_is_waited_for_is_not_waited_for_for_ever(
    follower: Follower,
) -> None:
    async with follower.running():
        with follower.faults.stall(watch(ConfigMap)):
            await follower.create("c")
            filling = follower.begin()
            await advance(1)
            await follower.delete("c")
        await advance(1)

        assert filling.done()


async def test_a_read_that_fails_is_tried_again(follower: Follower) -> None:
    async with follower.running():
        failing = follower.faults.answer(500, when=verb("list"))
        filling = follower.begin()
        await advance(20)
        assert not filling.done()
        failing.lift()
        await advance(7)

        assert filling.done()
        assert 3 < len(follower.faults.seen(verb("list"))) < 12


async def test_every_namespace_that_is_followed_is_read_and_no_other() -> None:
    follower = Follower()
    for name in ("sea", "bay", "lake"):
        await follower.others.create(Namespace(metadata=ObjectMeta(name=name)))
        await follower.create("a", name)
    follower.caches.declare(ConfigMap, namespaces=("sea", "bay"))
    async with follower.running():
        await fill_caches(follower.rest, follower.caches, Random(0))

        read = {sent.call.path.split("/")[4] for sent in follower.faults.seen(verb("list"))}
        assert read == {"sea", "bay"}


async def test_a_kind_that_the_server_may_lack_is_not_waited_for() -> None:
    follower = Follower()
    follower.caches.declare(Ship, optional=True)
    async with follower.running():
        await fill_caches(follower.rest, follower.caches, Random(0))

        assert follower.faults.seen(verb("list") & kind(Ship))
