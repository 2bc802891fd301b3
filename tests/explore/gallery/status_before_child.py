"""The status says that a child is there before it is made.

An operator marks a Site as published, and then makes the Service that publishes it. Whoever was
marked is never looked at again. If it is killed in between, the Site is published for ever, and has
no Service.

Mended: the child first, the status after it; and the child is looked after whatever the status
says.
"""

from __future__ import annotations

from quintant import Context, Custom, Manager, Model, ObjectMeta, owned, resource
from quintant.api.core import Service, ServicePort, ServiceSpec
from quintant.testing import FaultMode, Scenario, ScenarioWorld, named

CAUGHT_BY = FaultMode.CRASH_BEFORE


class SiteStatus(Model):
    published: bool | None = None


@resource(group="gallery.dev", version="v1", status=True)
class Site(Custom[Model, SiteStatus]):
    """Is published by a Service."""


def service_of(site: Site) -> Service:
    spec = ServiceSpec(ports=(ServicePort(port=80),), selector={"site": site.metadata.name})
    return owned(Service(metadata=ObjectMeta.like(site), spec=spec), by=site)


async def mistaken(site: Site, ctx: Context[Site]) -> None:
    if site.status is None:
        await ctx.set_status(SiteStatus(published=True))
        await ctx.apply(service_of(site))


async def mended(site: Site, ctx: Context[Site]) -> None:
    await ctx.apply(service_of(site))
    await ctx.set_status(SiteStatus(published=True))


class Mistake(Scenario):
    """One site."""

    reconcile = staticmethod(mistaken)

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("sites")
        manager.controls(Site).owns(Service).reconcile(self.reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Site(metadata=named("shop"), spec=Model()))
        await world.quiet()


class Mended(Mistake):
    """The same, by the right controller."""

    reconcile = staticmethod(mended)
