"""A number is given out from memory.

An operator gives every Listener a port of its own, the next one at a time. When it is restarted it
counts from the beginning, and gives a port that somebody has.

Mended: the numbers that were given out are in the objects; the next one follows from them.
"""

from __future__ import annotations

from itertools import count

from quintant import Context, Custom, Manager, Model, resource
from quintant.runtime.reconcile.context import Reconciler
from quintant.testing import FaultMode, Scenario, ScenarioWorld, named

CAUGHT_BY = FaultMode.CRASH_AFTER
FIRST_PORT = 30000


class ListenerStatus(Model):
    port: int | None = None


@resource(group="gallery.dev", version="v1", status=True)
class Listener(Custom[Model, ListenerStatus]):
    """Has a port that nobody else has."""


def manager_of(reconcile: Reconciler[Listener]) -> Manager:
    manager = Manager("listeners")
    # One at a time: what is given is seen by whoever comes next.
    manager.controls(Listener).workers(1).reconcile(reconcile)
    return manager


class Mistake(Scenario):
    """Two listeners, one after the other."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        ports = count(FIRST_PORT)

        async def reconcile(listener: Listener, ctx: Context[Listener]) -> None:
            if listener.status is None:
                await ctx.set_status(ListenerStatus(port=next(ports)))

        return [manager_of(reconcile)]

    async def script(self, world: ScenarioWorld) -> None:
        for name in ("http", "https"):
            await world.create(Listener(metadata=named(name), spec=Model()))
            await world.quiet()


class Mended(Mistake):
    """The same, by a controller that reads which ports are given."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        async def reconcile(listener: Listener, ctx: Context[Listener]) -> None:
            if listener.status is None:
                every = await ctx.client.list(Listener)
                given = {each.status.port for each in every if each.status is not None}
                port = next(port for port in count(FIRST_PORT) if port not in given)
                await ctx.set_status(ListenerStatus(port=port))

        return [manager_of(reconcile)]
