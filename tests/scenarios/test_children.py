"""Children on the embedded API server: what the server does to what `control` sends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from quintant.api.core import ConfigMap
from quintant.core.errors import Conflict, Terminal
from quintant.core.object import Custom, Model, ObjectMeta, replace
from quintant.core.owner import owned
from quintant.core.resource import resource
from quintant.runtime.apply import NAME_TAKEN, control, controlled
from quintant.runtime.apply.diff import ChildChanges
from quintant.runtime.controller.context import Context
from quintant.runtime.manager.manager import Manager
from quintant.testing import InProcessCluster, named
from quintant.testing.faults.match import kind, verb, watch, writes


class FleetSpec(Model):
    ships: int = 0


@resource(group="test.quintant.dev", version="v1", status=True)
class Fleet(Custom[FleetSpec, Model]):
    """Owns ConfigMaps."""


def ship(number: int, **data: str) -> ConfigMap:
    return ConfigMap(metadata=named(f"ship-{number}"), data=data)


async def fleet(cluster: InProcessCluster, ships: int = 0, name: str = "fleet") -> Fleet:
    return await cluster.create(Fleet(metadata=named(name), spec=FleetSpec(ships=ships)))


async def keep(
    cluster: InProcessCluster, by: Fleet, desired: Sequence[ConfigMap]
) -> ChildChanges[ConfigMap, ConfigMap]:
    existing = await cluster.client.list(ConfigMap, "default")
    return await control(cluster.client, desired, existing, by=by)


async def test_a_field_no_longer_desired_goes_away(cluster: InProcessCluster) -> None:
    by = await fleet(cluster)
    await keep(cluster, by, [ship(0, flag="red", motto="aye")])
    await keep(cluster, by, [ship(0, flag="red")])
    assert (await cluster.get(ConfigMap, "ship-0")).data == {"flag": "red"}


async def test_what_others_add_to_a_child_stays(cluster: InProcessCluster) -> None:
    by = await fleet(cluster)
    await keep(cluster, by, [ship(0, flag="red")])
    await cluster.client.with_field_manager("somebody").apply(ship(0, cargo="tea"))
    await keep(cluster, by, [ship(0, flag="blue")])
    assert (await cluster.get(ConfigMap, "ship-0")).data == {"flag": "blue", "cargo": "tea"}


async def test_a_second_pass_finds_the_world_as_desired(cluster: InProcessCluster) -> None:
    by = await fleet(cluster)
    desired = [ship(n, flag="red") for n in range(3)]
    await keep(cluster, by, desired)
    before = await cluster.client.list(ConfigMap, "default")
    assert (await keep(cluster, by, desired)).settled
    assert await cluster.client.list(ConfigMap, "default") == before


async def test_a_foreign_child_is_refused_and_survives(cluster: InProcessCluster) -> None:
    by, other = await fleet(cluster), await fleet(cluster, name="other")
    theirs = await cluster.create(owned(ship(1, flag="black"), by=other))
    mine = await cluster.create(ship(2, flag="white"))
    with pytest.raises(Terminal, match=r"ship-1 .* Fleet other; .*ship-2 .* no controller") as it:
        await keep(cluster, by, [ship(n, flag="red") for n in range(3)])
    assert it.value.reason == NAME_TAKEN
    assert await cluster.get(ConfigMap, "ship-1") == theirs
    assert await cluster.get(ConfigMap, "ship-2") == mine
    assert controlled(await cluster.get(ConfigMap, "ship-0"), by)
    await keep(cluster, by, [])
    assert await cluster.get(ConfigMap, "ship-1") == theirs


async def test_a_namesake_that_took_a_childs_place_is_not_touched(
    cluster: InProcessCluster,
) -> None:
    by = await fleet(cluster)
    await keep(cluster, by, [ship(0, flag="red")])
    seen = await cluster.get(ConfigMap, "ship-0")
    await cluster.client.delete(seen)
    namesake = await cluster.create(ship(0, flag="white"))
    with pytest.raises(Conflict):
        await control(cluster.client, [ship(0, flag="blue")], [seen], by=by)
    with pytest.raises(Conflict):
        await control(cluster.client, [], [seen], by=by)
    assert await cluster.get(ConfigMap, "ship-0") == namesake


async def test_a_child_on_its_way_out_is_waited_for(cluster: InProcessCluster) -> None:
    by = await fleet(cluster)
    anchored = ship(0, flag="red")
    held = replace(anchored.metadata, finalizers=("test.quintant.dev/anchor",))
    await keep(cluster, by, [replace(anchored, metadata=held)])
    await keep(cluster, by, [])
    leaving = await cluster.get(ConfigMap, "ship-0")
    assert leaving.deleting
    changes = await keep(cluster, by, [ship(0, flag="blue")])
    assert len(changes.waiting) == 1
    assert await cluster.get(ConfigMap, "ship-0") == leaving


async def reconcile(it: Fleet, ctx: Context[Fleet]) -> None:
    desired = [
        ConfigMap(metadata=ObjectMeta.like(it, name=f"{it.metadata.name}-{n}"), data={"n": str(n)})
        for n in range(it.spec.ships)
    ]
    await control(ctx.client, desired, await ctx.owned(ConfigMap), by=it)


def manager() -> Manager:
    fresh = Manager("fleets")
    fresh.controls(Fleet).owns(ConfigMap).reconcile(reconcile)
    return fresh


async def children(cluster: InProcessCluster) -> dict[str, Any]:
    found = await cluster.client.list(ConfigMap, "default")
    return {child.metadata.name: child.metadata.uid for child in found}


async def nudge(cluster: InProcessCluster, note: str) -> None:
    live = await cluster.get(Fleet, "fleet")
    meta = replace(live.metadata, annotations={"note": note})
    await cluster.client.patch(replace(live, metadata=meta), since=live)


@pytest.mark.parametrize("late", [5, 30])
async def test_a_late_watch_creates_nothing_twice(cluster: InProcessCluster, late: int) -> None:
    await cluster.run(manager())
    with cluster.faults.lag(late, watch(ConfigMap)):
        await fleet(cluster, ships=3)
        for n in range(20):
            await cluster.advance(1)
            await nudge(cluster, str(n))
        await cluster.advance(30)
    assert set(await children(cluster)) == {"fleet-0", "fleet-1", "fleet-2"}
    applies = cluster.faults.seen(kind(ConfigMap) & verb("apply"))
    assert [sent.outcome for sent in applies] == [201, 201, 201]


async def test_a_crash_at_any_write_is_made_good_by_the_next_process() -> None:
    for at in range(4):
        for late in (False, True):
            await crash(at, applied=late)


async def crash(at: int, *, applied: bool) -> None:
    cluster = InProcessCluster()
    engine = await cluster.run(manager())
    fault = cluster.faults.lose if applied else cluster.faults.refuse
    fault(writes & kind(ConfigMap), skip=at)
    await fleet(cluster, ships=4)
    await cluster.advance(1)
    await cluster.crash(engine)
    cluster.faults.clear()
    before = await children(cluster)

    await cluster.run(manager())
    await cluster.advance(60)
    after = await children(cluster)
    assert set(after) == {f"fleet-{n}" for n in range(4)}
    assert before.items() <= after.items()
    await cluster.close()


async def test_a_new_fleet_of_the_same_name_waits_for_the_old_ones_ships(
    cluster: InProcessCluster,
) -> None:
    old = await fleet(cluster, ships=1)
    await keep(cluster, old, [ConfigMap(metadata=named("fleet-0"), data={"n": "0"})])
    left = await cluster.get(ConfigMap, "fleet-0")
    await cluster.client.delete(old)
    await fleet(cluster, ships=1)
    await cluster.run(manager())
    await cluster.advance(5)
    assert await cluster.get(ConfigMap, "fleet-0") == left

    await cluster.client.delete(left)  # what the garbage collector does in time
    new = await cluster.eventually(ConfigMap, "fleet-0")
    assert controlled(new, await cluster.get(Fleet, "fleet"))
