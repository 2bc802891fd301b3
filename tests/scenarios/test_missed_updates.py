"""Under load, updates are skipped: the last one of an object is never acted upon.

A controller that compares events or collects them for a while loses some when many come at once.
"""

from __future__ import annotations

import asyncio
from random import Random

from quintant import Context, Manager, Request
from quintant.core.object import replace
from quintant.testing import InProcessCluster, watch
from scenarios.greeter import Greeter, GreeterSpec, greeter
from scenarios.soak_size import sized

OBJECTS = sized(10_000)
UPDATES = 20
WRITERS = 8
WORKERS = 4
# An update comes while the object waits, while it is reconciled, and when all is quiet.
SLOWEST_RECONCILE_SECONDS = 0.02
LONGEST_PAUSE_SECONDS = 0.05


class Witness:
    """A controller that notes which generation of each object it saw last, and takes its time."""

    def __init__(self) -> None:
        self.seen: dict[Request, int] = {}
        self.calls = 0

    async def reconcile(self, obj: Greeter, ctx: Context[Greeter]) -> None:
        self.calls += 1
        await asyncio.sleep(ctx.random.uniform(0, SLOWEST_RECONCILE_SECONDS))
        self.seen[ctx.request] = obj.metadata.generation

    def manager(self) -> Manager:
        manager = Manager("witness")
        manager.controls(Greeter).workers(WORKERS).reconcile(self.reconcile)
        return manager


async def write(cluster: InProcessCluster, names: list[str], random: Random) -> None:
    """Create each object at its first turn and change it at each later one."""
    live: dict[str, Greeter] = {}
    for turn, name in enumerate(names):
        old = live.get(name)
        if old is None:
            live[name] = await cluster.create(greeter(name, str(turn)))
        else:
            new = replace(old, spec=GreeterSpec(message=str(turn)))
            live[name] = await cluster.client.patch(new, since=old)
        if random.random() < 0.3:
            await asyncio.sleep(random.uniform(0, LONGEST_PAUSE_SECONDS))


async def storm(cluster: InProcessCluster, random: Random) -> int:
    """All updates of all objects, in a random order, by several writers; returns their number."""
    await cluster.install(Greeter)
    async with asyncio.TaskGroup() as group:
        for writer in range(WRITERS):
            names = [f"g{n}" for n in range(writer, OBJECTS, WRITERS) for _ in range(UPDATES)]
            random.shuffle(names)
            group.create_task(write(cluster, names, Random(random.random())))
    return OBJECTS * UPDATES


async def disturb(cluster: InProcessCluster, random: Random) -> None:
    """End the watch every now and then, cleanly or not."""
    while True:
        await asyncio.sleep(random.uniform(0.5, 3))
        cluster.faults.cut(watch(Greeter), clean=random.random() < 0.5)


async def test_soak_last_reconcile_of_every_object_saw_its_last_generation(
    cluster: InProcessCluster,
) -> None:
    random, witness = Random(5), Witness()
    await cluster.run(witness.manager())
    disturbance = asyncio.ensure_future(disturb(cluster, random))
    updates = await storm(cluster, random)
    disturbance.cancel()
    await cluster.advance(300)

    final = {obj.key: obj.metadata.generation for obj in await cluster.client.list(Greeter)}
    assert set(final.values()) == {UPDATES}
    assert witness.seen == final
    assert OBJECTS <= witness.calls <= updates
