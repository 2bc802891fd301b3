"""Something is deleted by its name, whatever has that name by then.

An operator removes the ConfigMap of a Feature that was switched off. Between its look and its
request somebody deletes the ConfigMap and makes another of the same name: that one goes, and nobody
has ever looked at it.

Mended: the object that was read is deleted, with its uid as the precondition. If it is another one
by now, the server refuses, and the next reconcile looks at that one.
"""

from __future__ import annotations

from quintant import Context, Custom, Manager, Model, ObjectMeta, owned, replace, resource
from quintant.api.core import ConfigMap
from quintant.testing import FaultMode, Scenario, ScenarioWorld, named

CAUGHT_BY = FaultMode.CHILD_RECREATED


class FeatureSpec(Model):
    disabled: bool = False


@resource(group="gallery.dev", version="v1")
class Feature(Custom[FeatureSpec, Model]):
    """Has a ConfigMap unless it is disabled."""


class Mistake(Scenario):
    """A feature that is switched off."""

    async def remove(self, found: ConfigMap, ctx: Context[Feature]) -> None:
        await ctx.client.delete(ConfigMap(metadata=ObjectMeta.like(found)))

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        async def reconcile(feature: Feature, ctx: Context[Feature]) -> None:
            if not feature.spec.disabled:
                child = ConfigMap(metadata=ObjectMeta.like(feature), data={"on": "yes"})
                await ctx.apply(owned(child, by=feature))
                return
            for found in await ctx.owned(ConfigMap):
                await self.remove(found, ctx)

        manager = Manager("features")
        manager.controls(Feature).owns(ConfigMap).reconcile(reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Feature(metadata=named("dark"), spec=FeatureSpec()))
        await world.quiet()
        off = FeatureSpec(disabled=True)
        await world.edit(Feature, "dark", lambda it: replace(it, spec=off))
        await world.quiet()


class Mended(Mistake):
    """The same, by a controller that deletes what it has read."""

    async def remove(self, found: ConfigMap, ctx: Context[Feature]) -> None:
        await ctx.client.delete(found)
