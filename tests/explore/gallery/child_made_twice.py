"""A child with a generated name is made twice.

An operator makes a Pod for every Backup and lets the server find its name, which it then writes
into the status. If it is killed in between, it knows nothing of that Pod, and makes another: two
backups run at once into the same place.

Mended: the child's name follows from its owner's, so that making it again finds it.
"""

from __future__ import annotations

from quintant import Context, Custom, Manager, Model, ObjectMeta, owned, resource
from quintant.api.core import Container, Pod, PodSpec
from quintant.testing import FaultMode, Scenario, ScenarioWorld, named

CAUGHT_BY = FaultMode.CRASH_AFTER


class BackupStatus(Model):
    pod: str | None = None


@resource(group="gallery.dev", version="v1", status=True)
class Backup(Custom[Model, BackupStatus]):
    """Is made by a Pod."""


def pod_of(backup: Backup, meta: ObjectMeta) -> Pod:
    spec = PodSpec(containers=(Container(name="dump", image="dump"),), restart_policy="Never")
    return owned(Pod(metadata=meta, spec=spec), by=backup)


async def mistaken(backup: Backup, ctx: Context[Backup]) -> None:
    if backup.status is None:
        meta = ObjectMeta.like(backup, name="", generate_name=f"{backup.metadata.name}-")
        pod = await ctx.client.create(pod_of(backup, meta))
        await ctx.set_status(BackupStatus(pod=pod.metadata.name))


async def mended(backup: Backup, ctx: Context[Backup]) -> None:
    pod = await ctx.apply(pod_of(backup, ObjectMeta.like(backup)))
    await ctx.set_status(BackupStatus(pod=pod.metadata.name))


class Mistake(Scenario):
    """One backup."""

    reconcile = staticmethod(mistaken)

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("backups")
        manager.controls(Backup).owns(Pod).reconcile(self.reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Backup(metadata=named("nightly"), spec=Model()))
        await world.quiet()


class Mended(Mistake):
    """The same, by the right controller."""

    reconcile = staticmethod(mended)
