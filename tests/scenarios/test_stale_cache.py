"""The cache is behind the controller's own writes, so children are created twice.

A watch may be seconds late. Whoever counts children in a cache that does not know the last write
creates them again, or fails with AlreadyExists or Conflict on work that is done.
"""

from __future__ import annotations

from collections import Counter

import pytest

from quintant import Context, Manager, ObjectMeta, Reconciler, Request, every, owned
from quintant.api.core import ConfigMap
from quintant.core.object import replace
from quintant.runtime.manager.engine import Engine
from quintant.testing import InProcessCluster, kind, watch, writes
from scenarios.greeter import Greeter, greeter
from scenarios.metrics_and_probes import sample

LAG_SECONDS = 5
CHILDREN = 20
RECONCILES = 200
# So often the controller is woken, with or without news.
TICK_SECONDS = 0.1


async def many(obj: Greeter, ctx: Context[Greeter]) -> None:
    """Keep so many children, whatever their names: one more in each pass."""
    if len(await ctx.owned(ConfigMap)) < CHILDREN:
        meta = ObjectMeta(generate_name="child-", namespace=obj.metadata.namespace)
        await ctx.client.create(owned(ConfigMap(metadata=meta), by=obj))


async def numbered(obj: Greeter, ctx: Context[Greeter]) -> None:
    """Keep children with known names: the first that is missing in each pass."""
    for number in range(CHILDREN):
        key = Request(f"child-{number}", obj.metadata.namespace)
        if await ctx.client.find(ConfigMap, *key) is None:
            meta = ObjectMeta(name=key.name, namespace=key.namespace)
            await ctx.client.create(owned(ConfigMap(metadata=meta), by=obj))
            return


async def none(obj: Greeter, ctx: Context[Greeter]) -> None:
    """Remove the children, one in each pass."""
    for child in await ctx.owned(ConfigMap):
        await ctx.client.delete(child)
        return


async def counting(obj: Greeter, ctx: Context[Greeter]) -> None:
    """Add one to a number in the object itself, on top of the version that was read."""
    passed = int(obj.metadata.labels.get("passed", "0")) + 1
    meta = replace(obj.metadata, labels={"passed": str(passed)})
    await ctx.client.patch(replace(obj, metadata=meta), since=obj)


async def lagging(cluster: InProcessCluster, reconcile: Reconciler[Greeter]) -> Engine:
    """Run a reconciler, woken all the time, with watches that are late; the engine, afterwards."""
    manager = Manager("greeter")
    controller = manager.controls(Greeter).owns(ConfigMap)
    controller.on(every(TICK_SECONDS)).without_resync().reconcile(reconcile)
    engine = await cluster.run(manager)
    cluster.faults.lag(LAG_SECONDS, watch(Greeter) | watch(ConfigMap))
    while reconciles(engine) < RECONCILES:
        await cluster.advance(1)
    await cluster.advance(2 * LAG_SECONDS)
    return engine


def reconciles(engine: Engine) -> float:
    name = "controller_runtime_reconcile_total"
    results = ("success", "error", "requeue_after", "conflict")
    return sum(sample(engine, name, controller="greeter", result=result) for result in results)


def outcomes(cluster: InProcessCluster) -> Counter[object]:
    """How the controller's writes ended."""
    return Counter(sent.outcome for sent in cluster.faults.seen(writes))


@pytest.mark.parametrize("reconcile", [many, numbered])
async def test_children_are_created_once_however_late_the_watch_is(
    cluster: InProcessCluster, reconcile: Reconciler[Greeter]
) -> None:
    await cluster.create(greeter("a"))
    await lagging(cluster, reconcile)

    assert len(await cluster.client.list(ConfigMap)) == CHILDREN
    assert outcomes(cluster) == {201: CHILDREN}


async def test_children_are_deleted_once_however_late_the_watch_is(
    cluster: InProcessCluster,
) -> None:
    parent = await cluster.create(greeter("a"))
    for number in range(CHILDREN):
        meta = ObjectMeta(name=f"child-{number}", namespace="default")
        await cluster.create(owned(ConfigMap(metadata=meta), by=parent))
    await lagging(cluster, none)

    assert await cluster.client.list(ConfigMap) == []
    assert outcomes(cluster) == {200: CHILDREN}


async def test_own_writes_are_never_in_conflict_with_each_other(cluster: InProcessCluster) -> None:
    await cluster.create(greeter("a"))
    engine = await lagging(cluster, counting)

    made = len(cluster.faults.seen(writes & kind(Greeter)))
    assert made >= RECONCILES
    assert outcomes(cluster) == {200: made}
    assert (await cluster.get(Greeter, "a")).metadata.labels == {"passed": str(made)}
    assert sample(engine, "quintant_conflicts_total", controller="greeter") == 0
