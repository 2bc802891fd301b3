"""With few workers and many objects the program never starts.

Workers that wait for caches or indexes to be complete, while they hold the slots that would
complete them, wait for ever.
"""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest

from quintant import Context, Manager, Request, by_index
from quintant.api.core import ConfigMap, Secret
from quintant.runtime.manager.engine import Engine
from quintant.testing import InProcessCluster, kind, named, verb, watch
from scenarios.greeter import Greeter, greeter
from scenarios.metrics_and_probes import sample, unready

OBJECTS = 1000
INDEXES = ("first", "last", "length")
SLOW_SECONDS = 30


def filed(obj: Greeter) -> dict[str, str]:
    name = obj.metadata.name
    return {"first": name[0], "last": name[-1], "length": str(len(name))}


def values(index: str, obj: Greeter) -> list[str]:
    return [filed(obj)[index]]


class Reader:
    """A controller that uses every index, and notes how complete each was."""

    def __init__(self) -> None:
        self.seen: dict[Request, dict[str, int]] = {}

    async def reconcile(self, obj: Greeter, ctx: Context[Greeter]) -> None:
        found = {item: await ctx.client.list(Greeter, index=item) for item in filed(obj).items()}
        self.seen[ctx.request] = {index: len(objects) for (index, _), objects in found.items()}
        await ctx.client.get(ConfigMap, "settings", "default")

    def manager(self) -> Manager:
        manager = Manager("reader")
        declared = manager.controls(Greeter).workers(1)
        for name in INDEXES:
            declared.index(name, partial(values, name))
        declared.watches(ConfigMap, to=lambda config: [])
        declared.watches(Secret, to=by_index("first", lambda secret: [secret.metadata.name]))
        declared.reconcile(self.reconcile)
        return manager


def complete() -> dict[Request, dict[str, int]]:
    """What a controller with complete caches sees."""
    everything = [greeter(f"g{number}") for number in range(OBJECTS)]
    sizes = Counter(item for obj in everything for item in filed(obj).items())
    return {obj.key: {item[0]: sizes[item] for item in filed(obj).items()} for obj in everything}


def check_nobody_works(engine: Engine) -> None:
    """No worker slot is taken, though there is work and the slot is free."""
    (controller,) = engine.controllers
    assert controller.queue.processing_count() == 0
    assert sample(engine, "controller_runtime_active_workers", controller="greeter") == 0
    assert not engine.started.is_set()


@pytest.mark.parametrize("late", [Greeter, ConfigMap, Secret])
async def test_one_worker_starts_when_everything_is_there_and_sees_all_of_it(
    cluster: InProcessCluster, late: type[Greeter] | type[ConfigMap] | type[Secret]
) -> None:
    for number in range(OBJECTS):
        await cluster.create(greeter(f"g{number}"))
    await cluster.create(ConfigMap(metadata=named("settings")))
    reader = Reader()
    with cluster.faults.stall(watch(late)):
        engine = await cluster.run(reader.manager(), started=False)
        for _ in range(SLOW_SECONDS):
            await cluster.advance(1)
            check_nobody_works(engine)
        assert len(await unready(engine)) == 1
    await cluster.advance(10)

    assert engine.started.is_set()
    assert not await unready(engine)
    assert reader.seen == complete()
    assert not cluster.faults.seen(verb("get") & kind(ConfigMap))
