"""Children in another namespace than their owner: as many as there should be, and none too many."""

from __future__ import annotations

from quintant import Context, Custom, Manager, Model, ObjectMeta, Policy, control, owned, replace
from quintant import resource as resource_kind
from quintant.api.core import ConfigMap, Namespace
from quintant.core.owner import OWNER_UID
from quintant.runtime.apply.drift import drifted
from quintant.testing import InProcessCluster, Scenario, ScenarioWorld, explore_scenario, named

PORT = "harbour"
POLICY = Policy(across_namespaces=True, drifted=drifted)


class FleetSpec(Model):
    ships: int = 0


@resource_kind(group="explored.dev", version="v1", status=True)
class Fleet(Custom[FleetSpec, Model]):
    """Has ships in another namespace."""


def fleet(ships: int) -> Fleet:
    return Fleet(metadata=named("fleet"), spec=FleetSpec(ships=ships))


def ship(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace=PORT), data={"flag": "red"})


async def reconcile(it: Fleet, ctx: Context[Fleet]) -> None:
    desired = [ship(f"ship-{number}") for number in range(it.spec.ships)]
    await control(ctx.client, desired, await ctx.owned(ConfigMap), by=it, policy=POLICY)


class _Fleets(Scenario):
    """A harbour, where somebody else has a ship, too."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("fleets")
        builder = manager.controls(Fleet, namespaces=["default"])
        builder.owns(ConfigMap, namespaces=[PORT]).reconcile(reconcile)
        return [manager]

    async def prepare(self, cluster: InProcessCluster) -> None:
        await cluster.client.create(Namespace(metadata=ObjectMeta(name=PORT)))
        captain = await cluster.create(ConfigMap(metadata=named("captain")))
        await cluster.create(owned(ship("ketch"), by=captain, across_namespaces=True))

    def always(self, world: ScenarioWorld) -> None:
        assert world.one(ConfigMap, "ketch", PORT) is not None, "somebody else's ship sank"

    def settled(self, world: ScenarioWorld) -> None:
        living = {each.metadata.uid for each in world.all(Fleet)}
        ships = [each for each in world.all(ConfigMap, PORT) if each.metadata.name != "ketch"]
        assert {each.metadata.labels.get(OWNER_UID) for each in ships} <= living, "no owner"


class FleetLife(_Fleets):
    """Grows, shrinks, goes."""

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(fleet(2))
        await world.quiet()
        await world.edit(Fleet, "fleet", lambda it: replace(it, spec=FleetSpec(ships=1)))
        await world.quiet()
        await world.delete(Fleet, "fleet")
        await world.quiet()


class FleetReplaced(_Fleets):
    """Goes, and another one of its name comes at once."""

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(fleet(2))
        await world.quiet()
        await world.delete(Fleet, "fleet")
        await world.create(fleet(1))
        await world.quiet()


class FleetDiesYoung(_Fleets):
    """Goes while its ships are being made, and while nobody is there to see it."""

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(fleet(2))
        await world.advance(0.0)
        await world.delete(Fleet, "fleet")
        await world.quiet()
        await world.create(fleet(2))
        await world.quiet()
        await world.restart()
        await world.delete(Fleet, "fleet")
        await world.quiet()


def test_a_fleet_has_its_ships_and_takes_them_along_whatever_happens() -> None:
    explore_scenario(FleetLife).check()


def test_a_fleet_of_the_same_name_has_ships_of_its_own_whatever_happens() -> None:
    explore_scenario(FleetReplaced).check()


def test_a_fleet_that_dies_young_or_unseen_leaves_no_ships() -> None:
    explore_scenario(FleetDiesYoung).check()
