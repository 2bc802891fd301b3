"""State is kept in annotations of the user's object: it bloats, fights with others, and loops.

A copy of the object inside itself doubles it until the server refuses; two operators overwrite each
other's notes; and after a deletion the last note is written again and again.
"""

from __future__ import annotations

import asyncio
import base64

import msgspec
import pytest

import patience
from quintant import Context, Manager
from quintant.api.core import ConfigMap, Secret
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.cluster.apiserver.server.https import serve
from quintant.core.object import Object, replace
from quintant.testing import InProcessCluster, kind, named, settle, writes
from scenarios.greeter import Greeter, GreeterStatus, greeter, greeter_manager, reconcile

LONG_SECONDS = 600
# Of real time, for a test that waits for the network.
PATIENCE_SECONDS = 30
LARGE_BYTES = 900 * 1024
FINALIZER = "demo.dev/held"


async def nothing(obj: Object, ctx: object) -> None: ...


def holding_manager() -> Manager:
    """The greeter with everything a controller can want of its object."""
    manager = Manager("greeter")
    controller = manager.controls(Greeter).owns(ConfigMap)
    controller.finalize(FINALIZER, nothing).on_deleted(lambda request: None).reconcile(reconcile)
    return manager


async def test_users_object_gets_a_status_and_a_finalizer_and_nothing_else(
    cluster: InProcessCluster,
) -> None:
    engine = await cluster.run(holding_manager())
    mine = {"me.example.com/note": "mine"}
    first = await cluster.create(
        Greeter(metadata=named("a", annotations=mine, labels=mine), spec=greeter("a").spec)
    )
    await cluster.eventually(Greeter, "a", until=lambda obj: obj.status is not None)
    await cluster.client.apply(greeter("a", "changed"))
    await cluster.advance(LONG_SECONDS)
    await cluster.stop(engine)
    await cluster.run(holding_manager())
    await cluster.advance(LONG_SECONDS)

    last = await cluster.get(Greeter, "a")
    counted = {"resource_version": last.metadata.resource_version, "generation": 2}
    assert last.metadata == replace(first.metadata, finalizers=(FINALIZER,), **counted)
    assert last.status == GreeterStatus(greeted=True)
    assert (await cluster.get(ConfigMap, "a")).metadata.annotations == {}


class Scales:
    """A controller that weighs secrets; `both` is set when it has seen two."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        self.both = asyncio.Event()
        self.manager = Manager("scales")
        self.manager.controls(Secret).reconcile(self._weigh)

    async def _weigh(self, secret: Secret, ctx: Context[Secret]) -> None:
        self.sizes[secret.metadata.name] = len(base64.b64decode(secret.data["blob"]))
        if len(self.sizes) == 2:
            self.both.set()


def large_secret(name: str, size: int = LARGE_BYTES) -> Secret:
    text = base64.b64encode(b"x" * size).decode()
    return Secret(metadata=named(name), data={"blob": text})


async def test_large_secret_is_watched_and_reconciled(cluster: InProcessCluster) -> None:
    scales = Scales()
    await cluster.create(large_secret("listed"))
    await cluster.run(scales.manager)
    await cluster.create(large_secret("watched"))
    await cluster.client.apply(large_secret("listed", LARGE_BYTES - 1))
    await settle()

    assert scales.sizes == {"listed": LARGE_BYTES - 1, "watched": LARGE_BYTES}


@pytest.mark.realtime
async def test_large_secret_comes_over_the_network_too(cluster: InProcessCluster) -> None:
    scales = Scales()
    await cluster.create(large_secret("listed"))
    async with serve(cluster.server) as url:
        transport = HttpTransport(Config(url))
        environment = msgspec.structs.replace(cluster.environment(), transport=transport)
        engine = await cluster.run(scales.manager, environment=environment)
        await cluster.create(large_secret("watched"))
        async with patience.within(PATIENCE_SECONDS):
            await scales.both.wait()
        await cluster.stop(engine)
        await transport.close()

    assert scales.sizes == {"listed": LARGE_BYTES, "watched": LARGE_BYTES}


async def test_object_deleted_during_its_reconcile_is_written_no_more(
    cluster: InProcessCluster,
) -> None:
    await cluster.run(greeter_manager())
    cluster.faults.delay(1, kind(ConfigMap) & writes)
    obj = await cluster.create(greeter("a"))
    await settle()
    await cluster.client.delete(obj)
    await cluster.advance(LONG_SECONDS)

    # The child was on its way, for the garbage collector to find; the status finds nobody.
    child = await cluster.get(ConfigMap, "a")
    assert [owner.uid for owner in child.metadata.owner_references] == [obj.metadata.uid]
    sent = cluster.faults.seen(writes)
    assert [(each.verb, each.outcome) for each in sent] == [("apply", 201), ("apply", 404)]
    assert await cluster.client.find(Greeter, "a", "default") is None


async def test_namesake_made_during_a_reconcile_does_not_get_the_old_ones_status(
    cluster: InProcessCluster,
) -> None:
    begun, go = asyncio.Event(), asyncio.Event()
    seen: list[str] = []
    manager = Manager("greeter")

    async def slow(obj: Greeter, ctx: Context[Greeter]) -> None:
        seen.append(obj.metadata.uid)
        begun.set()
        await go.wait()
        if len(seen) == 1:
            await ctx.set_status(GreeterStatus(greeted=True))

    manager.controls(Greeter).reconcile(slow)
    await cluster.run(manager)
    old = await cluster.create(greeter("a"))
    await begun.wait()
    await cluster.client.delete(old)
    new = await cluster.create(greeter("a", "another"))
    go.set()
    await cluster.advance(LONG_SECONDS)

    assert seen == [old.metadata.uid, new.metadata.uid]
    assert (await cluster.get(Greeter, "a")).status is None


async def test_deleted_object_with_a_finalizer_is_cleaned_up_and_left_alone(
    cluster: InProcessCluster,
) -> None:
    await cluster.run(holding_manager())
    await cluster.create(greeter("a"))
    await cluster.eventually(Greeter, "a", until=lambda obj: obj.status is not None)
    await cluster.client.delete(await cluster.get(Greeter, "a"))
    await cluster.wait_deleted(Greeter, "a", within=1)
    made = len(cluster.faults.seen(writes))
    await cluster.advance(LONG_SECONDS)

    assert len(cluster.faults.seen(writes)) == made


async def test_greeter_at_rest_writes_nothing(cluster: InProcessCluster) -> None:
    await cluster.run(greeter_manager(resync=60))
    await cluster.create(greeter("a"))
    await cluster.eventually(Greeter, "a", until=lambda obj: obj.status is not None)
    await cluster.advance(1)
    made = len(cluster.faults.seen(writes))
    await cluster.advance(LONG_SECONDS)

    assert len(cluster.faults.seen(writes)) == made
