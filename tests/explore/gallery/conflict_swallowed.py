"""A conflict is taken for something that somebody else has done.

An operator writes the version that it rolls out into a Release, and passes over a conflict: whoever
was faster will wake it again. But who was faster may have done so before its last look, or the
conflict is all that there was; then nothing wakes it, and the write is never made.

Mended: a conflict is raised. The runtime reads again, and tries again, without telling anybody.
"""

from __future__ import annotations

from quintant import Context, Custom, Manager, Model, replace, resource
from quintant.core.errors import Conflict
from quintant.testing import FaultMode, Scenario, ScenarioWorld, named

CAUGHT_BY = FaultMode.CONFLICT
ROLLED_OUT = "gallery.dev/rolled-out"


class ReleaseSpec(Model):
    version: str = ""


@resource(group="gallery.dev", version="v1")
class Release(Custom[ReleaseSpec, Model]):
    """A version, and the one that was rolled out."""


async def mended(release: Release, ctx: Context[Release]) -> None:
    marks = {**release.metadata.annotations, ROLLED_OUT: release.spec.version}
    marked = replace(release, metadata=replace(release.metadata, annotations=marks))
    await ctx.client.patch(marked, since=release)


async def mistaken(release: Release, ctx: Context[Release]) -> None:
    try:
        await mended(release, ctx)
    except Conflict:
        ctx.log.info("release was changed by somebody else")


class Mistake(Scenario):
    """One release, and the next version of it."""

    reconcile = staticmethod(mistaken)

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("releases")
        manager.controls(Release).reconcile(self.reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Release(metadata=named("app"), spec=ReleaseSpec(version="1")))
        await world.quiet()
        await world.edit(Release, "app", lambda it: replace(it, spec=ReleaseSpec(version="2")))
        await world.quiet()


class Mended(Mistake):
    """The same, by the right controller."""

    reconcile = staticmethod(mended)
