"""A fleet and its ships: as many ordered children as the parent asks for.

A builder makes the desired children (pure), `control` does the rest: it creates ship-0 first,
deletes the last ship first, changes only what differs, and never touches what is not ours.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from quintant import Context, Custom, Manager, Model, ObjectMeta, Result, control, resource
from quintant.api.core import ConfigMap
from quintant.runtime.apply import Policy
from quintant.runtime.apply.drift import drifted

# What somebody else edits of a ship is put right.
SHIPS = Policy(drifted=drifted)
# A ship of this name that is still being deleted is looked at again after so many seconds.
PATIENCE_SECONDS = 2.0


class FleetSpec(Model):
    ships: Annotated[int, Meta(ge=0, le=100)]
    motto: str = ""


class FleetStatus(Model):
    afloat: int | None = None
    ready: bool | None = None


@resource(
    group="demo.dev",
    version="v1",
    status=True,
    columns={"Ships": ".spec.ships", "Afloat": ".status.afloat", "Ready": ".status.ready"},
)
class Fleet(Custom[FleetSpec, FleetStatus]):
    """Keeps as many ConfigMaps as it has ships."""


def build(fleet: Fleet) -> list[ConfigMap]:
    return [ship(fleet, number) for number in range(fleet.spec.ships)]


def ship(fleet: Fleet, number: int) -> ConfigMap:
    meta = ObjectMeta.like(fleet, name=f"{fleet.metadata.name}-{number}")
    return ConfigMap(metadata=meta, data={"number": str(number), "motto": fleet.spec.motto})


async def reconcile(fleet: Fleet, ctx: Context[Fleet]) -> Result | None:
    existing = await ctx.owned(ConfigMap)
    changes = await control(ctx.client, build(fleet), existing, by=fleet, policy=SHIPS)
    afloat = fleet.spec.ships - len(changes.waiting)
    await ctx.set_status(FleetStatus(afloat=afloat, ready=not changes.waiting))
    return Result(after=PATIENCE_SECONDS) if changes.waiting else None


manager = Manager("fleet")
manager.controls(Fleet).owns(ConfigMap).reconcile(reconcile)

if __name__ == "__main__":
    manager.run()
