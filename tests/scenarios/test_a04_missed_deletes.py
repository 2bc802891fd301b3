"""Objects that were deleted while the watch was away live on as ghosts.

Nobody announces them later: they stay in caches and indexes and keep what was started for them
alive. An object that was made anew under its old name must not pass for a change of the old one.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from quintant import Context, Manager, Request
from quintant.api.core import ConfigMap
from quintant.runtime.client.match import Match
from quintant.runtime.engine import Engine
from quintant.runtime.watch.informer import Change
from quintant.testing import InProcessCluster, named, watch
from scenarios.observe import restarts

OBJECTS = 150
DELETED = range(100)
RECREATED = range(20)
LOST = range(20, 100)
LEFT = range(100, OBJECTS)
# The longest pause between two attempts, and a moment for the attempt.
BACKOFF_SECONDS = 31

WATCHES = watch(ConfigMap)
STREAMED = WATCHES & Match(lambda call: "sendInitialEvents" in call.query)


def config(number: int) -> ConfigMap:
    labels = {"team": "red" if number % 2 else "blue"}
    return ConfigMap(metadata=named(f"c{number}", labels=labels))


def keys(numbers: Iterable[int]) -> set[Request]:
    return {Request(f"c{number}", "default") for number in numbers}


class Ledger:
    """A controller that starts something for each object, and ends it when the object is gone."""

    def __init__(self) -> None:
        self.started: dict[Request, str] = {}
        self.ended: list[Request] = []
        self.changes: list[Change[ConfigMap]] = []

    async def reconcile(self, obj: ConfigMap, ctx: Context[ConfigMap]) -> None:
        self.started[ctx.request] = obj.metadata.uid

    def gone(self, key: Request) -> None:
        self.ended.append(key)
        del self.started[key]

    async def follow(self, cluster: InProcessCluster) -> Engine:
        manager = Manager("configs")
        declared = manager.controls(ConfigMap).gone(self.gone)
        declared.index("team", lambda obj: [obj.metadata.labels["team"]]).reconcile(self.reconcile)
        engine = await cluster.run(manager)
        await cluster.advance(1)
        engine.caches.of(ConfigMap).subscribe(self.changes.append)
        self.changes.clear()
        return engine


async def truth(cluster: InProcessCluster) -> dict[Request, str]:
    return {obj.key: obj.metadata.uid for obj in await cluster.client.list(ConfigMap, "default")}


async def disappear(cluster: InProcessCluster) -> None:
    for number in DELETED:
        await cluster.client.delete(await cluster.get(ConfigMap, f"c{number}"))
    for number in RECREATED:
        await cluster.create(config(number))
    cluster.server.compact()


@pytest.mark.parametrize("paged", [False, True], ids=["streamed", "paged"])
async def test_what_vanished_while_away_is_told_and_forgotten(
    cluster: InProcessCluster, paged: bool
) -> None:
    if paged:
        cluster.faults.answer(400, when=STREAMED)
    for number in range(OBJECTS):
        await cluster.create(config(number))
    before, ledger = await truth(cluster), Ledger()
    engine = await ledger.follow(cluster)
    assert ledger.started == before

    with cluster.faults.refuse(WATCHES):
        cluster.faults.cut(WATCHES)
        await disappear(cluster)
        await cluster.advance(1)
        assert not ledger.changes
    await cluster.advance(BACKOFF_SECONDS)
    assert restarts(engine, ConfigMap, "410") == 1

    deleted = [change.old for change in ledger.changes if change.new is None and change.old]
    assert {obj.key: obj.metadata.uid for obj in deleted} == {
        key: before[key] for key in keys(DELETED)
    }
    assert len(deleted) == len(DELETED)
    assert not any(change.final for change in ledger.changes if change.new is None)
    for key in keys(RECREATED):
        gone, back = [
            c for c in ledger.changes if key in (c.old and c.old.key, c.new and c.new.key)
        ]
        assert gone.new is None
        assert back.old is None

    after = await truth(cluster)
    assert ledger.started == after
    assert sorted(ledger.ended) == sorted(keys(LOST))
    store = engine.caches.of(ConfigMap).store
    assert {obj.key: obj.metadata.uid for obj in store} == after
    index = store.index("team")
    assert len(index) == len(after) == len(RECREATED) + len(LEFT)
    assert {*index.keys("red"), *index.keys("blue")} == after.keys()


async def test_deletion_that_was_seen_is_told_with_the_last_state(
    cluster: InProcessCluster,
) -> None:
    ledger = Ledger()
    await cluster.create(config(0))
    await ledger.follow(cluster)
    await cluster.client.delete(await cluster.get(ConfigMap, "c0"))
    await cluster.advance(1)
    assert [(change.new, change.final) for change in ledger.changes] == [(None, True)]
    assert not ledger.started


async def test_reading_that_broke_off_halfway_leaves_no_ghosts(cluster: InProcessCluster) -> None:
    for number in range(OBJECTS):
        await cluster.create(config(number))
    ledger = Ledger()
    engine = await ledger.follow(cluster)
    with cluster.faults.refuse(WATCHES):
        cluster.faults.cut(WATCHES)
        await cluster.create(config(OBJECTS))
        cluster.server.compact()
    half = cluster.faults.truncate(STREAMED)
    while not half.spent:
        await cluster.advance(0.1)
    await disappear(cluster)
    await cluster.advance(BACKOFF_SECONDS)
    assert {obj.key for obj in engine.caches.of(ConfigMap).store} == keys(
        [*RECREATED, *LEFT, OBJECTS]
    )
    assert ledger.started == await truth(cluster)


async def test_what_vanished_before_a_restart_is_not_there_after_it(
    cluster: InProcessCluster,
) -> None:
    for number in range(OBJECTS):
        await cluster.create(config(number))
    first, second = Ledger(), Ledger()
    await cluster.crash(await first.follow(cluster))
    await disappear(cluster)
    await second.follow(cluster)
    assert second.started == await truth(cluster)
