"""The example of ordered children does what it says, on an in-process cluster."""

from __future__ import annotations

from typing import Any

from examples_support import load_example
from quintant.api.core import ConfigMap
from quintant.core.object import replace
from quintant.testing import InProcessCluster, named, reconcile_once
from quintant.testing.faults.match import kind, verb, writes

example = load_example("05_children")


def fleet(ships: int, motto: str = "aye") -> Any:
    return example.Fleet(metadata=named("f"), spec=example.FleetSpec(ships=ships, motto=motto))


async def ordered(cluster: InProcessCluster, ships: int, motto: str = "aye") -> None:
    """Change what is asked for, and wait until the fleet says that it is so."""
    live = await cluster.get(example.Fleet, "f")
    spec = example.FleetSpec(ships=ships, motto=motto)
    await cluster.client.patch(replace(live, spec=spec), since=live)
    await cluster.advance(1)


async def names(cluster: InProcessCluster) -> list[str]:
    return [child.metadata.name for child in await cluster.client.list(ConfigMap, "default")]


async def test_a_fleet_has_as_many_ships_as_it_asks_for(cluster: InProcessCluster) -> None:
    await cluster.run(example.manager)
    await cluster.create(fleet(3))
    done = await cluster.eventually(example.Fleet, "f", until=lambda f: f.status is not None)
    assert await names(cluster) == ["f-0", "f-1", "f-2"]
    assert (done.status.afloat, done.status.ready) == (3, True)

    await ordered(cluster, 1)
    assert await names(cluster) == ["f-0"]


async def test_ships_come_upwards_and_go_downwards(cluster: InProcessCluster) -> None:
    await cluster.run(example.manager)
    await cluster.create(fleet(11))
    await cluster.eventually(ConfigMap, "f-10")
    await ordered(cluster, 8)

    def touched(*verbs: str) -> list[str]:
        sent = cluster.faults.seen(kind(ConfigMap) & verb(*verbs))
        return [each.call.path.rpartition("/")[2] for each in sent]

    assert touched("apply") == [f"f-{n}" for n in range(11)]
    assert touched("delete") == ["f-10", "f-9", "f-8"]


async def test_a_changed_motto_reaches_every_ship(cluster: InProcessCluster) -> None:
    await cluster.run(example.manager)
    await cluster.create(fleet(2))
    before = await cluster.eventually(ConfigMap, "f-1")
    await ordered(cluster, 2, "nay")
    after = await cluster.get(ConfigMap, "f-1")
    assert after.data == {"number": "1", "motto": "nay"}
    assert after.metadata.uid == before.metadata.uid


async def test_a_deleted_ship_is_built_again(cluster: InProcessCluster) -> None:
    await cluster.run(example.manager)
    await cluster.create(fleet(2))
    sunk = await cluster.eventually(ConfigMap, "f-1")
    await cluster.client.delete(sunk)
    new = await cluster.eventually(
        ConfigMap, "f-1", until=lambda c: c.metadata.uid != sunk.metadata.uid
    )
    assert new.data == sunk.data


async def test_a_fleet_as_desired_writes_nothing(cluster: InProcessCluster) -> None:
    await cluster.run(example.manager)
    await cluster.create(fleet(2))
    await cluster.advance(1)
    before = len(cluster.faults.seen(writes))

    live = await cluster.get(example.Fleet, "f")
    meta = replace(live.metadata, annotations={"look": "again"})
    await cluster.client.patch(replace(live, metadata=meta), since=live)
    await cluster.advance(60)
    assert len(cluster.faults.seen(writes)) == before


def test_one_reconcile_builds_the_ships_in_order() -> None:
    outcome = reconcile_once(example.manager, fleet(2))
    assert [(write.verb, write.name, write.sub) for write in outcome.writes] == [
        ("apply", "f-0", ""),
        ("apply", "f-1", ""),
        ("apply", "f", "status"),
    ]
    assert outcome.result is None
