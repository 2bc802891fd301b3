"""Somebody asks to be called again at once, for ever.

An operator looks after a ConfigMap and, to be sure, asks to be called again in a tenth of a second,
although it is told of every change. Nothing breaks, and nobody notices: a thousand objects keep a
core and the API server busy.

Mended: a watch tells what there is to do. Who has to look by himself does so in minutes.
"""

from __future__ import annotations

from quintant import Context, Custom, Manager, Model, ObjectMeta, Result, owned, resource
from quintant.api.core import ConfigMap
from quintant.testing import Scenario, ScenarioWorld, named

CAUGHT_BY = "undisturbed"


@resource(group="gallery.dev", version="v1")
class Note(Custom[Model, Model]):
    """Has a ConfigMap."""


class Mistake(Scenario):
    """One note."""

    again = 0.1

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        async def reconcile(note: Note, ctx: Context[Note]) -> Result:
            child = ConfigMap(metadata=ObjectMeta.like(note), data={"text": "hi"})
            await ctx.apply(owned(child, by=note))
            return Result(after=self.again)

        manager = Manager("notes")
        manager.controls(Note).owns(ConfigMap).reconcile(reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Note(metadata=named("milk"), spec=Model()))
        await world.quiet()


class Mended(Mistake):
    """The same, by a controller that has time."""

    again = 300.0
