"""What a manager has beside controllers, explored: daemons, fresh caches, kinds without a class.

Namespaces by label are in greeter.py, long calls in test_long_calls.py.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping

from explore.greeter import Greeter, GreeterSpec, example
from quintant import Context, Manager, Request, owned, replace
from quintant.api.core import ConfigMap
from quintant.core.dynamic import Unstructured, dynamic
from quintant.core.errors import NotLeader
from quintant.testing import RemoteModel, Scenario, ScenarioWorld, named

Fence = Callable[[], None]
"""Raises NotLeader in a process that may not write."""


class Lines(RemoteModel):
    """Lines that are held, by the name of what holds them."""

    def __init__(self) -> None:
        self._held: dict[str, list[Fence]] = defaultdict(list)

    async def hold(self, name: str, fence: Fence) -> None:
        self._held[name].append(fence)
        self.check()
        try:
            await asyncio.Event().wait()
        finally:
            self._held[name].remove(fence)

    def check(self) -> None:
        """Never two for one: a process that stands still ends its own when it goes on."""
        for fences in self._held.values():
            assert sum(map(_is_open, fences)) <= 1, "two daemons of one object"

    @property
    def held(self) -> set[str]:
        """What has a daemon."""
        return {name for name, fences in self._held.items() if fences}


def _is_open(fence: Fence) -> bool:
    try:
        fence()
    except NotLeader:
        return False
    return True


def lines_of(world: ScenarioWorld) -> Lines:
    found = world.remotes["lines"]
    assert isinstance(found, Lines)
    return found


class LineLife(Scenario):
    """A daemon per object, under a lease: never two for one, and none for what is gone."""

    def remotes(self) -> Mapping[str, RemoteModel]:
        return {"lines": Lines()}

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        lines = lines_of(world)

        async def hold(obj: Greeter, ctx: Context[Greeter]) -> None:
            await lines.hold(ctx.request.name, ctx.client.fence)

        manager = Manager("lines", leader_elect=True)
        manager.controls(Greeter).daemon(hold).owns(ConfigMap).reconcile(example.reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        for name in ("a", "b"):
            await world.create(Greeter(metadata=named(name), spec=GreeterSpec(message="hi")))
        await world.quiet()
        await world.edit(Greeter, "a", lambda it: replace(it, spec=GreeterSpec(message="ho")))
        await world.delete(Greeter, "b")
        await world.quiet()

    def always(self, world: ScenarioWorld) -> None:
        lines_of(world).check()

    def settled(self, world: ScenarioWorld) -> None:
        living = {each.metadata.name for each in world.all(Greeter)}
        assert lines_of(world).held == living


class FreshGreeter(Scenario):
    """A controller that waits for fresh caches: no key is held for ever, whatever happens."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        async def greet(obj: Greeter, ctx: Context[Greeter]) -> None:
            await ctx.fresh(within=90)
            await example.reconcile(obj, ctx)

        manager = Manager("fresh", staleness=30)
        manager.controls(Greeter).owns(ConfigMap).fresh(within=120).reconcile(greet)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Greeter(metadata=named("a"), spec=GreeterSpec(message="hi")))
        await world.quiet()
        await world.edit(Greeter, "a", lambda it: replace(it, spec=GreeterSpec(message="ho")))
        await world.quiet()

    def settled(self, world: ScenarioWorld) -> None:
        assert [each.data for each in world.all(ConfigMap)] == [{"text": "ho"}]


class CopyLife(Scenario):
    """A parent and a child without classes."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        greeters, maps = dynamic("demo.dev/v1", "Greeter"), dynamic("v1", "ConfigMap")

        async def copy(obj: Unstructured, ctx: Context[Unstructured]) -> None:
            meta = {"name": obj.metadata.name, "namespace": obj.metadata.namespace}
            child = maps.of({"metadata": meta, "data": {"text": obj.at("spec", "message")}})
            await ctx.apply(owned(child, by=obj))

        manager = Manager("copies")
        manager.controls(greeters).owns(maps).reconcile(copy)
        # It brings the definition.
        manager.controls(Greeter, name="definition").reconcile(nothing)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Greeter(metadata=named("a"), spec=GreeterSpec(message="hi")))
        await world.quiet()
        await world.edit(Greeter, "a", lambda it: replace(it, spec=GreeterSpec(message="ho")))
        await world.quiet()

    def always(self, world: ScenarioWorld) -> None:
        assert len(world.all(ConfigMap)) <= 1, "two copies"

    def settled(self, world: ScenarioWorld) -> None:
        assert [each.data for each in world.all(ConfigMap)] == [{"text": "ho"}]


class OwnLimiter:
    """Two seconds, whoever fails however often."""

    def when(self, key: Request) -> float:
        return 2.0

    def forget(self, key: Request) -> None: ...


class ExchangedParts(Scenario):
    """Failures that a rate limiter, a retry policy and a priority of one's own decide about."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("greeter")
        builder = manager.controls(Greeter).owns(ConfigMap).rate_limiter(OwnLimiter)
        builder.retry_policy(lambda failure: 1.0 if failure.failures < 3 else None)
        builder.priority(lambda request, obj, priority: 5).reconcile(example.reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Greeter(metadata=named("a"), spec=GreeterSpec(message="hi")))
        await world.quiet()
        await world.edit(Greeter, "a", lambda it: replace(it, spec=GreeterSpec(message="ho")))
        await world.quiet()

    def settled(self, world: ScenarioWorld) -> None:
        assert [each.data for each in world.all(ConfigMap)] == [{"text": "ho"}]


async def nothing(obj: Greeter, ctx: Context[Greeter]) -> None:
    """Leave it alone."""
