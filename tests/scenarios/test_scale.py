"""With thousands of objects a start takes minutes and the API server is hammered.

Progress is stored by patching every object, each object has a task of its own, and a restart
writes everything again though nothing differs.
"""

from __future__ import annotations

from quintant import Context, Manager, ObjectMeta, Request, control
from quintant.api.core import ConfigMap
from quintant.testing import InProcessCluster, watch, writes
from scenarios.greeter import Greeter, GreeterStatus, greeter, greeter_manager
from scenarios.metrics_and_probes import sample

OBJECTS = 10_000
PARENTS = 500
RESYNC_HOURS = 10


class Look:
    """A controller that finds nothing to do."""

    def __init__(self) -> None:
        self.looks: dict[Request, int] = {}

    async def reconcile(self, obj: Greeter, ctx: Context[Greeter]) -> None:
        self.looks[ctx.request] = self.looks.get(ctx.request, 0) + 1

    def manager(self) -> Manager:
        manager = Manager("look")
        manager.controls(Greeter).reconcile(self.reconcile)
        return manager


async def keep(obj: Greeter, ctx: Context[Greeter]) -> None:
    """A child kept by its revision, and a status."""
    child = ConfigMap(metadata=ObjectMeta.like(obj), data={"text": obj.spec.message})
    await control(ctx.client, [child], await ctx.owned(ConfigMap), by=obj)
    await ctx.set_status(GreeterStatus(greeted=True))


def keeping() -> Manager:
    manager = Manager("keep")
    manager.controls(Greeter).owns(ConfigMap).reconcile(keep)
    return manager


async def test_thousands_of_objects_are_looked_at_once_for_a_single_request(
    cluster: InProcessCluster,
) -> None:
    for number in range(OBJECTS):
        await cluster.create(greeter(f"g{number}"))
    look = Look()
    engine = await cluster.run(look.manager())
    await cluster.advance(1)

    assert len(look.looks) == OBJECTS
    assert set(look.looks.values()) == {1}
    assert len(cluster.faults.seen()) == len(cluster.faults.seen(watch(Greeter))) == 1
    success = {"controller": "greeter", "result": "success"}
    assert sample(engine, "controller_runtime_reconcile_total", **success) == OBJECTS


async def test_restart_writes_nothing_when_nothing_differs(cluster: InProcessCluster) -> None:
    for number in range(PARENTS):
        await cluster.create(greeter(f"g{number}"))
    first = await cluster.run(keeping())
    await cluster.advance(60)
    assert len(await cluster.client.list(ConfigMap, "default")) == PARENTS
    await cluster.stop(first)

    cluster.faults.calls.clear()
    second = await cluster.run(keeping())
    await cluster.advance(60)
    success = {"controller": "greeter", "result": "success"}
    assert sample(second, "controller_runtime_reconcile_total", **success) >= PARENTS
    assert not cluster.faults.seen(writes)
    assert cluster.faults.seen() == cluster.faults.seen(watch(Greeter) | watch(ConfigMap))


async def test_at_rest_there_are_no_writes_even_when_everything_is_looked_at_again(
    cluster: InProcessCluster,
) -> None:
    engine = await cluster.run(greeter_manager())
    for number in range(PARENTS):
        await cluster.create(greeter(f"g{number}"))
    await cluster.advance(60)
    success = {"controller": "greeter", "result": "success"}
    before = sample(engine, "controller_runtime_reconcile_total", **success)
    written = len(cluster.faults.seen(writes))
    assert written == 2 * PARENTS  # a child and a status each

    await cluster.advance(2.5 * RESYNC_HOURS * 3600)
    after = sample(engine, "controller_runtime_reconcile_total", **success)
    assert after - before >= 2 * PARENTS
    assert len(cluster.faults.seen(writes)) == written
