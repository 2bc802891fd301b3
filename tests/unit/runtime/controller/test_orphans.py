"""Children in another namespace go with their owner, and nothing else goes."""

from __future__ import annotations

from typing import Any

import pytest

from quintant import Context, Custom, Manager, Model, ObjectMeta, owned, resource
from quintant.api.apiextensions import CustomResourceDefinition
from quintant.api.core import ConfigMap, Namespace, Secret
from quintant.api.events import Event
from quintant.core.object import replace
from quintant.core.owner import OWNER, OWNER_UID
from quintant.testing import InProcessCluster, grant, kind, named, settle, verb, watch, writes

PORT = "harbour"


class FleetSpec(Model):
    ships: int = 0


@resource(group="demo.dev", version="v1", status=True)
class Fleet(Custom[FleetSpec, Model]):
    """Has ships in another namespace."""


def fleet(name: str = "fleet", ships: int = 2) -> Fleet:
    return Fleet(metadata=named(name), spec=FleetSpec(ships=ships))


def ship(number: int, by: Fleet, name: str = "") -> ConfigMap:
    meta = ObjectMeta(name=f"{name or by.metadata.name}-{number}", namespace=PORT)
    return owned(ConfigMap(metadata=meta), by=by, across_namespaces=True)


async def reconcile(fleet: Fleet, ctx: Context[Fleet]) -> None:
    for number in range(fleet.spec.ships):
        await ctx.apply(ship(number, fleet))


def fleets(**options: Any) -> Manager:
    manager = Manager("fleets", **options)
    manager.controls(Fleet).owns(ConfigMap).owns(Secret).reconcile(reconcile)
    return manager


async def port(cluster: InProcessCluster) -> None:
    await cluster.client.apply(Namespace(metadata=ObjectMeta(name=PORT)))


async def ships(cluster: InProcessCluster) -> list[str]:
    return sorted(each.metadata.name for each in await cluster.client.list(ConfigMap, PORT))


async def test_children_go_with_their_owner_and_those_of_others_stay(
    cluster: InProcessCluster,
) -> None:
    await port(cluster)
    await cluster.run(fleets())
    one, other = await cluster.create(fleet("one")), await cluster.create(fleet("other"))
    await cluster.create(ConfigMap(metadata=named("mine", PORT)))
    await settle()
    assert await ships(cluster) == ["mine", "one-0", "one-1", "other-0", "other-1"]
    await cluster.client.delete(one)
    await settle()

    assert await ships(cluster) == ["mine", "other-0", "other-1"]
    await cluster.client.delete(other)
    await settle()
    assert await ships(cluster) == ["mine"]


async def test_a_child_that_is_deleted_comes_back(cluster: InProcessCluster) -> None:
    await port(cluster)
    await cluster.run(fleets())
    await cluster.create(fleet())
    await settle()
    await cluster.client.delete(await cluster.get(ConfigMap, "fleet-0", PORT))
    await settle()

    assert await ships(cluster) == ["fleet-0", "fleet-1"]


async def test_what_an_owner_left_while_nobody_was_running_is_found_though_a_predicate_hides_it(
    cluster: InProcessCluster,
) -> None:
    await port(cluster)
    stored = await cluster.create(fleet())
    for number in range(3):
        await cluster.create(ship(number, stored))
    await cluster.client.delete(stored)
    manager = Manager("fleets")
    manager.controls(Fleet).owns(ConfigMap, when=lambda old, new: False).reconcile(reconcile)
    await cluster.run(manager)
    await settle()

    assert await ships(cluster) == []


async def test_what_is_made_for_an_owner_that_was_deleted_meanwhile_goes(
    cluster: InProcessCluster,
) -> None:
    await port(cluster)
    await cluster.run(fleets())
    with cluster.faults.delay(5, kind(ConfigMap) & writes):
        stored = await cluster.create(fleet())
        await cluster.advance(1)
        await cluster.client.delete(stored)
        await cluster.advance(1)
    await cluster.advance(20)

    assert cluster.faults.seen(kind(ConfigMap) & verb("apply"))
    assert await ships(cluster) == []


async def test_a_cache_that_is_behind_orphans_nobody(cluster: InProcessCluster) -> None:
    await port(cluster)
    await cluster.run(fleets())
    with cluster.faults.lag(30, watch(Fleet)):
        stored = await cluster.create(fleet())
        before = await cluster.create(ship(0, stored))
        await cluster.advance(20)
        assert await cluster.get(ConfigMap, "fleet-0", PORT) == before
    await cluster.advance(60)
    assert await ships(cluster) == ["fleet-0", "fleet-1"]


async def test_children_of_the_new_owner_stay_while_the_cache_shows_the_old_one(
    cluster: InProcessCluster,
) -> None:
    await port(cluster)
    old = await cluster.create(fleet())
    await cluster.run(fleets())
    await settle()
    with cluster.faults.lag(30, watch(Fleet)):
        for left in await cluster.client.list(ConfigMap, PORT):
            await cluster.client.delete(left)
        await cluster.client.delete(old)
        new = await cluster.create(fleet())
        made = await cluster.create(ship(7, new))
        await cluster.advance(20)
        assert await cluster.get(ConfigMap, "fleet-7", PORT) == made
    await cluster.advance(60)
    found = await cluster.client.list(ConfigMap, PORT)
    assert {each.metadata.labels[OWNER_UID] for each in found} == {new.metadata.uid}


async def test_nothing_goes_because_the_owners_kind_is_not_served(
    cluster: InProcessCluster,
) -> None:
    await port(cluster)
    stored = await cluster.create(fleet())
    await cluster.run(fleets())
    await settle()
    definition = await cluster.client.get(CustomResourceDefinition, "fleets.demo.dev")
    with cluster.faults.lag(60, watch(ConfigMap)):
        await cluster.client.delete(definition)
        await cluster.client.wait_for(
            CustomResourceDefinition, "fleets.demo.dev", until=lambda it: it is None, timeout=60
        )
        await cluster.advance(30)
    await cluster.create(ship(9, stored))
    await cluster.advance(30)

    assert await ships(cluster) == ["fleet-0", "fleet-1", "fleet-9"]


async def test_nothing_is_made_for_an_owner_of_which_only_the_cache_knows(
    cluster: InProcessCluster,
) -> None:
    await port(cluster)
    stored = await cluster.create(fleet())
    await cluster.run(fleets())
    await settle()
    applied = len(cluster.faults.seen(kind(ConfigMap) & verb("apply")))
    with cluster.faults.lag(30, watch(Fleet)):
        await cluster.client.delete(stored)
        for child in await cluster.client.list(ConfigMap, PORT):
            await cluster.client.delete(child)
        await cluster.advance(60)

    assert await ships(cluster) == []
    assert len(cluster.faults.seen(kind(ConfigMap) & verb("apply"))) == applied


@pytest.mark.parametrize(
    "place", ["Pod/default/gone", "Fleet.other.dev/default/gone", "Fleet.demo.dev//gone", "", "x"]
)
async def test_a_child_of_our_label_that_is_somebody_elses_is_not_touched(
    cluster: InProcessCluster, place: str
) -> None:
    await port(cluster)
    meta = named("theirs", PORT, labels={OWNER_UID: "of-nobody"}, annotations={OWNER: place})
    theirs = await cluster.create(ConfigMap(metadata=meta))
    await cluster.run(fleets())
    await cluster.advance(60)

    assert await cluster.get(ConfigMap, "theirs", PORT) == theirs


async def test_a_name_that_a_child_of_another_owner_holds_is_refused_and_told(
    cluster: InProcessCluster,
) -> None:
    await port(cluster)
    other = await cluster.create(fleet("other", ships=0))
    theirs = await cluster.create(ship(0, other, name="fleet"))
    await cluster.run(fleets())
    await cluster.create(fleet())
    await settle()

    assert await cluster.get(ConfigMap, "fleet-0", PORT) == theirs
    (event,) = await cluster.client.list(Event, "default")
    assert (event.type, event.reason) == ("Warning", "NameTaken")
    assert "ConfigMap harbour/fleet-0 exists and belongs to Fleet other" in event.note


async def test_owners_in_namespaces_that_are_not_ours_are_nobodys_business(
    cluster: InProcessCluster,
) -> None:
    await port(cluster)
    stored = await cluster.create(fleet())
    await cluster.create(ship(0, stored))
    await cluster.client.delete(stored)
    await cluster.run(fleets(namespaces=[PORT]))
    await cluster.advance(60)

    assert await ships(cluster) == ["fleet-0"]
    assert not cluster.faults.seen(verb("get") & kind(Fleet))


async def test_a_child_that_changed_since_it_was_looked_at_is_looked_at_again(
    cluster: InProcessCluster,
) -> None:
    await port(cluster)
    await cluster.run(fleets())
    one, other = await cluster.create(fleet("one")), await cluster.create(fleet("other", ships=0))
    await settle()
    with cluster.faults.lag(5, watch(ConfigMap)):
        taken = await cluster.get(ConfigMap, "one-0", PORT)
        given = ship(0, other, name="one").metadata
        meta = replace(taken.metadata, labels=given.labels, annotations=given.annotations)
        await cluster.client.patch(replace(taken, metadata=meta), since=taken)
        await cluster.client.delete(one)
        await cluster.advance(30)

    assert await ships(cluster) == ["one-0"]


async def test_a_sweep_that_fails_is_made_good(cluster: InProcessCluster) -> None:
    await port(cluster)
    await cluster.run(fleets())
    stored = await cluster.create(fleet())
    await settle()
    cluster.faults.refuse(verb("delete") & kind(ConfigMap), times=3)
    await cluster.client.delete(stored)
    await cluster.advance(60)

    assert await ships(cluster) == []


async def test_the_generated_roles_suffice_for_each_in_its_own_namespace() -> None:
    cluster = InProcessCluster(rbac=True)
    await port(cluster)
    manager = Manager("fleets")
    builder = manager.controls(Fleet, namespaces=["default"]).owns(ConfigMap, namespaces=[PORT])
    builder.reconcile(reconcile)
    account = await grant(cluster, manager)
    await cluster.run(manager, environment=cluster.environment(account.credentials))
    stored = await cluster.create(fleet())
    await settle()
    assert await ships(cluster) == ["fleet-0", "fleet-1"]
    await cluster.client.delete(stored)
    await settle()

    assert await ships(cluster) == []
    assert not account.denied()
    await cluster.close()
