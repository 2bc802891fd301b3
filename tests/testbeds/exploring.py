"""Small scenarios around the greeter, right and wrong, for tests of exploration."""

from __future__ import annotations

from collections.abc import Mapping

from quintant import Context, Custom, Manager, Model, ObjectMeta, owned, replace, resource
from quintant.api.core import ConfigMap
from quintant.runtime.reconcile.context import Reconciler
from quintant.testing import RemoteModel, Scenario, ScenarioWorld, effect, named


class GreetingSpec(Model):
    message: str


class GreetingStatus(Model):
    greeted: bool | None = None


@resource(group="explored.dev", version="v1", status=True)
class Greeting(Custom[GreetingSpec, GreetingStatus]):
    """Keeps a ConfigMap with a greeting."""


def greeting(message: str = "hi", name: str = "a") -> Greeting:
    return Greeting(metadata=named(name), spec=GreetingSpec(message=message))


def saying(message: str) -> GreetingSpec:
    return GreetingSpec(message=message)


def child_of(owner: Greeting, *, generate_name: str = "") -> ConfigMap:
    meta = ObjectMeta.like(owner)
    if generate_name:
        meta = ObjectMeta.like(owner, name="", generate_name=generate_name)
    return owned(ConfigMap(metadata=meta, data={"text": owner.spec.message}), by=owner)


async def reconcile(it: Greeting, ctx: Context[Greeting]) -> None:
    await ctx.apply(child_of(it))
    await ctx.set_status(GreetingStatus(greeted=True))


def manager_of(reconciler: Reconciler[Greeting]) -> Manager:
    manager = Manager("greeter")
    manager.controls(Greeting).owns(ConfigMap).reconcile(reconciler)
    return manager


class GreetingLife(Scenario):
    """Create, change, delete."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        return [manager_of(reconcile)]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(greeting("hi"))
        await world.quiet()
        await world.edit(Greeting, "a", lambda it: replace(it, spec=saying("ho")))
        await world.quiet()
        await world.delete(Greeting, "a")
        await world.quiet()


class GreetingCreated(GreetingLife):
    """Only its first step."""

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(greeting("hi"))
        await world.quiet()


async def reconcile_twice(it: Greeting, ctx: Context[Greeting]) -> None:
    """The mistake: what was made is known from a status that is written later."""
    if it.status is None:
        await ctx.client.create(child_of(it, generate_name="a-"))
        await ctx.set_status(GreetingStatus(greeted=True))


class MadeTwice(GreetingCreated):
    """A child with a generated name, recorded after it was made."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        return [manager_of(reconcile_twice)]


class Cloud(RemoteModel):
    """Machines by name; `careful` ones are not made twice."""

    def __init__(self, *, careful: bool) -> None:
        self._careful = careful

    @effect
    async def create(self, name: str) -> None:
        if not (self._careful and ("machine", name) in self.ledger):
            self.ledger.add("machine", name)


class Provisioned(GreetingCreated):
    """A machine for every greeting."""

    careful = True

    def remotes(self) -> Mapping[str, RemoteModel]:
        return {"cloud": Cloud(careful=self.careful)}

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        cloud = world.remotes["cloud"]
        assert isinstance(cloud, Cloud)

        async def provision(it: Greeting, ctx: Context[Greeting]) -> None:
            if it.status is None:
                await cloud.create(it.metadata.name)
                await ctx.set_status(GreetingStatus(greeted=True))

        return [manager_of(provision)]


class ProvisionedTwice(Provisioned):
    """The cloud makes a machine whenever it is asked."""

    careful = False


class GreetingCrowd(GreetingLife):
    """Several at once, so that there is something to be in another order."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("greeter")
        manager.controls(Greeting).owns(ConfigMap).workers(3).reconcile(reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        for name in ("a", "b", "c"):
            await world.create(greeting(name=name))
        await world.quiet()
