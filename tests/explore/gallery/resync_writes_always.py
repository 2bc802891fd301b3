"""Every look writes, even if nothing has changed.

An operator notes in the status when it has last looked. Each resync then writes every object, each
write wakes every watch of it, and a restart writes them all at once.

Mended: the time is when something became so. Who finds it so already writes nothing.
"""

from __future__ import annotations

from quintant import Context, Custom, Manager, Model, resource
from quintant.core.clock import timestamp
from quintant.runtime.source import predicates
from quintant.testing import Scenario, ScenarioWorld, named

CAUGHT_BY = "undisturbed"


class ProbeStatus(Model):
    healthy: bool | None = None
    since: str | None = None


@resource(group="gallery.dev", version="v1", status=True)
class Probe(Custom[Model, ProbeStatus]):
    """Says whether something is healthy, and since when."""


async def mistaken(probe: Probe, ctx: Context[Probe]) -> None:
    await ctx.set_status(ProbeStatus(healthy=True, since=timestamp(ctx.clock.now())))


async def mended(probe: Probe, ctx: Context[Probe]) -> None:
    if probe.status is None or not probe.status.healthy:
        await mistaken(probe, ctx)


class Mistake(Scenario):
    """One probe."""

    reconcile = staticmethod(mistaken)

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("probes")
        manager.controls(Probe, when=predicates.generation).reconcile(self.reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Probe(metadata=named("door"), spec=Model()))
        await world.quiet()
        await world.advance(5)


class Mended(Mistake):
    """The same, by the right controller."""

    reconcile = staticmethod(mended)
