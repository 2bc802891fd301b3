"""What is deleted is decided by an old view.

An operator of a database deletes the volumes of members that a Ring has no longer. After a restart
it may be served by an API server that lags behind: it sees the Ring as it was before it grew again,
and deletes the volume of a member that is there, with its data.

Mended: before something is deleted that cannot be brought back, the object is read from the server
itself; if it is another one than the cache has, nothing is deleted.
"""

from __future__ import annotations

from collections.abc import Callable

from quintant import Context, Custom, Manager, Model, ObjectMeta, owned, replace, resource
from quintant.api.container import ResourceRequirements
from quintant.api.core import PersistentVolumeClaim
from quintant.api.quantity import Quantity
from quintant.api.volume import PersistentVolumeClaimSpec
from quintant.testing import FaultMode, Scenario, ScenarioWorld, named

CAUGHT_BY = FaultMode.REWIND


class RingSpec(Model):
    members: int = 0


@resource(group="gallery.dev", version="v1")
class Ring(Custom[RingSpec, Model]):
    """Members, each with a volume."""


def volume_of(ring: Ring, number: int) -> PersistentVolumeClaim:
    meta = ObjectMeta.like(ring, name=f"{ring.metadata.name}-{number}")
    size = ResourceRequirements(requests={"storage": Quantity("1Gi")})
    spec = PersistentVolumeClaimSpec(access_modes=("ReadWriteOnce",), resources=size)
    return owned(PersistentVolumeClaim(metadata=meta, spec=spec), by=ring)


def resized(members: int) -> Callable[[Ring], Ring]:
    return lambda ring: replace(ring, spec=RingSpec(members=members))


class Mistake(Scenario):
    """A ring that shrinks and grows again."""

    async def remove(self, volume: PersistentVolumeClaim, ring: Ring, ctx: Context[Ring]) -> None:
        await ctx.client.delete(volume)

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        async def reconcile(ring: Ring, ctx: Context[Ring]) -> None:
            wanted = [volume_of(ring, number) for number in range(ring.spec.members)]
            for each in wanted:
                await ctx.apply(each)
            names = {each.metadata.name for each in wanted}
            for found in await ctx.owned(PersistentVolumeClaim):
                if found.metadata.name not in names:
                    await self.remove(found, ring, ctx)

        manager = Manager("rings")
        manager.controls(Ring).owns(PersistentVolumeClaim).reconcile(reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Ring(metadata=named("ring"), spec=RingSpec(members=2)))
        await world.quiet()
        for members in (1, 2):
            await world.edit(Ring, "ring", resized(members))
            await world.quiet()


class Mended(Mistake):
    """The same, by a controller that looks before it deletes."""

    async def remove(self, volume: PersistentVolumeClaim, ring: Ring, ctx: Context[Ring]) -> None:
        live = await ctx.client.find(Ring, *ctx.request, live=True)
        if live is not None and live.spec == ring.spec:
            await ctx.client.delete(volume)
