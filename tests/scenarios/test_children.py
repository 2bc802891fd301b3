"""Children on the embedded API server: what the server does to what `control` sends.

Everything holds for children beside their owner, and for children in another namespace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import pytest_asyncio

from quintant.api.core import ConfigMap, Namespace
from quintant.core.errors import Conflict, Terminal
from quintant.core.object import Custom, Model, ObjectMeta, replace
from quintant.core.owner import owned
from quintant.core.resource import resource
from quintant.runtime.apply import NAME_TAKEN, Policy, control, controlled
from quintant.runtime.apply.diff import ChildChanges
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import Context
from quintant.testing import InProcessCluster, named
from quintant.testing.faults.match import kind, verb, watch, writes


class FleetSpec(Model):
    ships: int = 0


@resource(group="test.quintant.dev", version="v1", status=True)
class Fleet(Custom[FleetSpec, Model]):
    """Owns ConfigMaps."""


BESIDE, APART = "default", "harbour"
PLACES = Policy(across_namespaces=True)


@pytest_asyncio.fixture(params=[BESIDE, APART])
async def port(request: pytest.FixtureRequest, cluster: InProcessCluster) -> str:
    """The namespace of the ships; fleets are in the default one."""
    return await opened(cluster, request.param)


async def opened(cluster: InProcessCluster, port: str) -> str:
    await cluster.client.apply(Namespace(metadata=ObjectMeta(name=port)))
    return port


def ship(number: int, port: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=named(f"ship-{number}", port), data=data)


async def fleet(cluster: InProcessCluster, ships: int = 0, name: str = "fleet") -> Fleet:
    return await cluster.create(Fleet(metadata=named(name), spec=FleetSpec(ships=ships)))


async def keep(
    cluster: InProcessCluster, by: Fleet, desired: Sequence[ConfigMap]
) -> ChildChanges[ConfigMap, ConfigMap]:
    existing = await cluster.client.list(ConfigMap)
    return await control(cluster.client, desired, existing, by=by, policy=PLACES)


async def test_a_field_no_longer_desired_goes_away(cluster: InProcessCluster, port: str) -> None:
    by = await fleet(cluster)
    await keep(cluster, by, [ship(0, port, flag="red", motto="aye")])
    await keep(cluster, by, [ship(0, port, flag="red")])
    assert (await cluster.get(ConfigMap, "ship-0", port)).data == {"flag": "red"}


async def test_what_others_add_to_a_child_stays(cluster: InProcessCluster, port: str) -> None:
    by = await fleet(cluster)
    await keep(cluster, by, [ship(0, port, flag="red")])
    await cluster.client.with_field_manager("somebody").apply(ship(0, port, cargo="tea"))
    await keep(cluster, by, [ship(0, port, flag="blue")])
    assert (await cluster.get(ConfigMap, "ship-0", port)).data == {"flag": "blue", "cargo": "tea"}


async def test_a_second_pass_finds_the_world_as_desired(
    cluster: InProcessCluster, port: str
) -> None:
    by = await fleet(cluster)
    desired = [ship(n, port, flag="red") for n in range(3)]
    await keep(cluster, by, desired)
    before = await cluster.client.list(ConfigMap, port)
    assert (await keep(cluster, by, desired)).settled
    assert await cluster.client.list(ConfigMap, port) == before


async def test_a_foreign_child_is_refused_and_survives(
    cluster: InProcessCluster, port: str
) -> None:
    by, other = await fleet(cluster), await fleet(cluster, name="other")
    theirs = await cluster.create(
        owned(ship(1, port, flag="black"), by=other, across_namespaces=True)
    )
    mine = await cluster.create(ship(2, port, flag="white"))
    with pytest.raises(Terminal, match=r"ship-1 .* Fleet other.*; .*ship-2 .* no controller") as it:
        await keep(cluster, by, [ship(n, port, flag="red") for n in range(3)])
    assert it.value.reason == NAME_TAKEN
    assert await cluster.get(ConfigMap, "ship-1", port) == theirs
    assert await cluster.get(ConfigMap, "ship-2", port) == mine
    assert controlled(await cluster.get(ConfigMap, "ship-0", port), by)
    await keep(cluster, by, [])
    assert await cluster.get(ConfigMap, "ship-1", port) == theirs


async def test_a_namesake_that_took_a_childs_place_is_not_touched(
    cluster: InProcessCluster, port: str
) -> None:
    by = await fleet(cluster)
    await keep(cluster, by, [ship(0, port, flag="red")])
    seen = await cluster.get(ConfigMap, "ship-0", port)
    await cluster.client.delete(seen)
    namesake = await cluster.create(ship(0, port, flag="white"))
    with pytest.raises(Conflict):
        await control(cluster.client, [ship(0, port, flag="blue")], [seen], by=by, policy=PLACES)
    with pytest.raises(Conflict):
        await control(cluster.client, [], [seen], by=by, policy=PLACES)
    assert await cluster.get(ConfigMap, "ship-0", port) == namesake


async def test_a_child_on_its_way_out_is_waited_for(cluster: InProcessCluster, port: str) -> None:
    by = await fleet(cluster)
    anchored = ship(0, port, flag="red")
    held = replace(anchored.metadata, finalizers=("test.quintant.dev/anchor",))
    await keep(cluster, by, [replace(anchored, metadata=held)])
    await keep(cluster, by, [])
    leaving = await cluster.get(ConfigMap, "ship-0", port)
    assert leaving.deleting
    changes = await keep(cluster, by, [ship(0, port, flag="blue")])
    assert len(changes.waiting) == 1
    assert await cluster.get(ConfigMap, "ship-0", port) == leaving


def manager(port: str) -> Manager:
    async def reconcile(it: Fleet, ctx: Context[Fleet]) -> None:
        desired = [
            ConfigMap(metadata=named(f"{it.metadata.name}-{n}", port), data={"n": str(n)})
            for n in range(it.spec.ships)
        ]
        await control(ctx.client, desired, await ctx.owned(ConfigMap), by=it, policy=PLACES)

    fresh = Manager("fleets")
    fresh.controls(Fleet).owns(ConfigMap).reconcile(reconcile)
    return fresh


async def children(cluster: InProcessCluster, port: str) -> dict[str, Any]:
    found = await cluster.client.list(ConfigMap, port)
    return {child.metadata.name: child.metadata.uid for child in found}


async def nudge(cluster: InProcessCluster, note: str) -> None:
    live = await cluster.get(Fleet, "fleet")
    meta = replace(live.metadata, annotations={"note": note})
    await cluster.client.patch(replace(live, metadata=meta), since=live)


@pytest.mark.parametrize("late", [5, 30])
async def test_a_late_watch_creates_nothing_twice(
    cluster: InProcessCluster, port: str, late: int
) -> None:
    await cluster.run(manager(port))
    with cluster.faults.lag(late, watch(ConfigMap)):
        await fleet(cluster, ships=3)
        for n in range(20):
            await cluster.advance(1)
            await nudge(cluster, str(n))
        await cluster.advance(30)
    assert set(await children(cluster, port)) == {"fleet-0", "fleet-1", "fleet-2"}
    applies = cluster.faults.seen(kind(ConfigMap) & verb("apply"))
    assert [sent.outcome for sent in applies] == [201, 201, 201]


@pytest.mark.parametrize("port", [BESIDE, APART])
async def test_a_crash_at_any_write_is_made_good_by_the_next_process(port: str) -> None:
    for at in range(4):
        for late in (False, True):
            await crash(port, at, applied=late)


async def crash(port: str, at: int, *, applied: bool) -> None:
    cluster = InProcessCluster()
    await opened(cluster, port)
    engine = await cluster.run(manager(port))
    fault = cluster.faults.lose if applied else cluster.faults.refuse
    fault(writes & kind(ConfigMap), skip=at)
    await fleet(cluster, ships=4)
    await cluster.advance(1)
    await cluster.crash(engine)
    cluster.faults.clear()
    before = await children(cluster, port)

    await cluster.run(manager(port))
    await cluster.advance(60)
    after = await children(cluster, port)
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
    await cluster.run(manager(BESIDE))
    await cluster.advance(5)
    assert await cluster.get(ConfigMap, "fleet-0") == left

    await cluster.client.delete(left)  # what the garbage collector does in time
    new = await cluster.eventually(ConfigMap, "fleet-0")
    assert controlled(new, await cluster.get(Fleet, "fleet"))


async def test_a_new_fleet_of_the_same_name_replaces_the_old_ones_ships_in_another_namespace(
    cluster: InProcessCluster,
) -> None:
    await opened(cluster, APART)
    old = await fleet(cluster, ships=2)
    await cluster.run(manager(APART))
    await cluster.eventually(ConfigMap, "fleet-1", APART)
    before = await children(cluster, APART)
    await cluster.client.delete(old)
    new = await fleet(cluster, ships=2)
    await cluster.advance(2)

    after = await children(cluster, APART)
    assert set(after) == set(before)
    assert not set(after.values()) & set(before.values())
    for child in await cluster.client.list(ConfigMap, APART):
        assert controlled(child, new)
