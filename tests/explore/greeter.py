"""The first example, explored: create, change, and delete."""

from __future__ import annotations

from typing import Any

from examples_support import load_example
from quintant import Manager, ObjectMeta, Shards, replace
from quintant.api.core import ConfigMap, Namespace
from quintant.testing import InProcessCluster, OtherCluster, Scenario, ScenarioWorld, named

example = load_example("01_greeter")
Greeter, GreeterSpec = example.Greeter, example.GreeterSpec


class GreeterLife(Scenario):
    """One greeter, from its creation to its end."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("greeter")
        manager.controls(Greeter).owns(ConfigMap).reconcile(example.reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Greeter(metadata=named("a"), spec=GreeterSpec(message="hi")))
        await world.quiet()
        await world.edit(Greeter, "a", lambda it: replace(it, spec=GreeterSpec(message="ho")))
        await world.quiet()
        await world.delete(Greeter, "a")
        await world.quiet()

    def always(self, world: ScenarioWorld) -> None:
        assert len(world.all(ConfigMap)) <= 1, "two greetings"


class GreetersOfThreeMembers(Scenario):
    """Three members, each with greeters of its own, and what happens to them."""

    replicas = 3

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("greeter", shards=Shards(ranges=8))
        manager.controls(Greeter).owns(ConfigMap).reconcile(example.reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.quiet()
        for name in ("a", "b", "c"):
            await world.create(Greeter(metadata=named(name), spec=GreeterSpec(message="hi")))
        await world.quiet()
        await world.edit(Greeter, "a", lambda it: replace(it, spec=GreeterSpec(message="ho")))
        await world.delete(Greeter, "b")
        await world.quiet()


class GreetersOfATeam(Scenario):
    """A namespace that comes, leaves, and comes back, beside one that stays."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("greeter")
        manager.namespaces(selector="team=a")
        manager.controls(Greeter).owns(ConfigMap).reconcile(example.reconcile)
        return [manager]

    async def prepare(self, cluster: InProcessCluster) -> None:
        for name, labels in (("stays", {"team": "a"}), ("moves", {})):
            meta = ObjectMeta(name=name, labels=labels)
            await cluster.client.create(Namespace(metadata=meta))

    async def script(self, world: ScenarioWorld) -> None:
        for namespace in ("stays", "moves"):
            meta = named("a", namespace)
            await world.create(Greeter(metadata=meta, spec=GreeterSpec(message="hi")))
        await world.quiet()
        for labels in ({"team": "a"}, {}):
            await self.label(world, labels)
            await world.advance(10)
        meta = named("b", "moves")
        await world.create(Greeter(metadata=meta, spec=GreeterSpec(message="ho")))
        await world.advance(10)
        await self.label(world, {"team": "a"})
        await world.advance(10)
        await world.quiet()

    async def label(self, world: ScenarioWorld, labels: dict[str, str]) -> None:
        await world.edit(
            Namespace,
            "moves",
            lambda it: replace(it, metadata=replace(it.metadata, labels=labels)),
            "",
        )

    def always(self, world: ScenarioWorld) -> None:
        assert len(world.all(ConfigMap)) <= 3, "two greetings"


class GreetersOfTwoClusters(Scenario):
    """Greeters at home and in another cluster, which is away for a while."""

    def remotes(self) -> dict[str, OtherCluster]:
        return {"west": OtherCluster(Greeter, ConfigMap)}

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("greeter")
        manager.cluster("west", world.remotes["west"].config(world.cluster))
        manager.controls(Greeter).owns(ConfigMap).reconcile(example.reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        west: OtherCluster = world.remotes["west"]
        await west.cluster.create(greeting("there"))
        await world.create(greeting("here"))
        await world.advance(10)
        await world.quiet()
        west.away()
        await west.cluster.client.apply(greeting("changed there"))
        await world.edit(Greeter, "a", lambda it: replace(it, spec=GreeterSpec(message="ho")))
        await world.advance(10)
        west.back()
        await world.advance(60)
        await world.quiet()

    def always(self, world: ScenarioWorld) -> None:
        assert len(world.all(ConfigMap)) <= 1, "two greetings at home"
        assert len(world.remotes["west"].all(ConfigMap)) <= 1, "two greetings in west"

    def settled(self, world: ScenarioWorld) -> None:
        found = self.texts(world.remotes["west"].all(ConfigMap))
        assert found in (["there"], ["changed there"]), found

    def texts(self, found: list[ConfigMap]) -> list[str]:
        return [child.data["text"] for child in found]


def greeting(text: str) -> Any:
    return Greeter(metadata=named("a"), spec=GreeterSpec(message=text))
