"""The finalizer is removed before the work that it stands for is done.

An operator holds a Bucket until what is stored outside is gone. When the Bucket is deleted, it
takes its finalizer off and then empties the store. If it is killed in between, the Bucket is gone,
nobody is ever told again, and what was stored stays.

Mended: first the work, then the finalizer; `finalize` does it in that order.
"""

from __future__ import annotations

from collections.abc import Mapping

from quintant import Context, Custom, KeyContext, Manager, Model, Request, replace, resource
from quintant.testing import FaultMode, RemoteModel, Scenario, ScenarioWorld, effect, named

CAUGHT_BY = FaultMode.CRASH_AFTER
FINALIZER = "gallery.dev/bucket"


@resource(group="gallery.dev", version="v1")
class Bucket(Custom[Model, Model]):
    """Has a place in a store."""


class Store(RemoteModel):
    """Keeps what it is told to keep until it is told to forget it."""

    @effect
    async def keep(self, name: str) -> None:
        if ("bucket", name) not in self.ledger:
            self.ledger.add("bucket", name)

    @effect
    async def forget(self, name: str) -> None:
        self.ledger.remove("bucket", name)


def store_of(world: ScenarioWorld) -> Store:
    found = world.remotes["store"]
    assert isinstance(found, Store)
    return found


class Mistake(Scenario):
    """One bucket, made and deleted."""

    def remotes(self) -> Mapping[str, RemoteModel]:
        return {"store": Store()}

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        store = store_of(world)

        async def reconcile(request: Request, ctx: KeyContext) -> None:
            bucket = await ctx.client.find(Bucket, *request)
            if bucket is None:
                return
            if bucket.deleting:
                await ctx.client.patch(holding(bucket), since=bucket)
                await store.forget(request.name)
            else:
                await ctx.client.patch(holding(bucket, FINALIZER), since=bucket)
                await store.keep(request.name)

        manager = Manager("buckets")
        manager.keyed("buckets").watches(Bucket, to=lambda it: [it.key]).reconcile(reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Bucket(metadata=named("photos"), spec=Model()))
        await world.quiet()
        await world.delete(Bucket, "photos")
        await world.quiet()


def holding(bucket: Bucket, *finalizers: str) -> Bucket:
    return replace(bucket, metadata=replace(bucket.metadata, finalizers=finalizers))


class Mended(Mistake):
    """The same, with a finalizer that the runtime looks after."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        store = store_of(world)

        async def reconcile(bucket: Bucket, ctx: Context[Bucket]) -> None:
            # By a cache that is behind it may be gone, and nobody would clean up after it.
            live = await ctx.client.find(Bucket, *ctx.request, live=True)
            if live is not None and not live.deleting:
                await store.keep(bucket.metadata.name)

        async def cleanup(bucket: Bucket, ctx: Context[Bucket]) -> None:
            await store.forget(bucket.metadata.name)

        manager = Manager("buckets")
        manager.controls(Bucket).finalize(FINALIZER, cleanup).reconcile(reconcile)
        return [manager]
