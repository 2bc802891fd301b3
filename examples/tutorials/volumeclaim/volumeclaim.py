"""Volume claims: a PersistentVolumeClaim for every object, of its size and with its labels.

The tutorial of kopf, with Quintant. There are no handlers for creation, change and deletion: one
reconcile makes the claim what the object says, whatever happened; the garbage collector deletes it.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from quintant import Context, Custom, Manager, Model, ObjectMeta, Terminal, owned, resource
from quintant.api.core import PersistentVolumeClaim, ResourceRequirements
from quintant.api.quantity import Quantity
from quintant.api.volume import PersistentVolumeClaimSpec
from quintant.core.errors import Invalid


class EphemeralVolumeClaimSpec(Model):
    """What is wanted."""

    size: Annotated[Quantity, Meta(description="How much storage, as 1Gi. It can only grow.")]


class EphemeralVolumeClaimStatus(Model):
    """What became of it."""

    claim: str | None = None
    size: Quantity | None = None


@resource(
    group="example.com",
    version="v1",
    short=["evc"],
    status=True,
    columns={"Size": ".spec.size", "Claim": ".status.claim", "Has": ".status.size"},
)
class EphemeralVolumeClaim(Custom[EphemeralVolumeClaimSpec, EphemeralVolumeClaimStatus]):
    """A volume that lives as long as the object."""


def build(obj: EphemeralVolumeClaim) -> PersistentVolumeClaim:
    """The claim that an object should have; its labels are the object's."""
    spec = PersistentVolumeClaimSpec(
        access_modes=("ReadWriteOnce",),
        resources=ResourceRequirements(requests={"storage": obj.spec.size}),
    )
    meta = ObjectMeta.like(obj, labels=dict(obj.metadata.labels))
    return PersistentVolumeClaim(metadata=meta, spec=spec)


async def reconcile(obj: EphemeralVolumeClaim, ctx: Context[EphemeralVolumeClaim]) -> None:
    """Keep the claim, and say what it has."""
    claim = build(obj)
    try:
        await ctx.apply(owned(claim, by=obj))
    except Invalid as error:
        # A volume does not shrink: nothing helps until somebody asks for more.
        raise Terminal(f"the claim cannot be {obj.spec.size}: {error.message}") from error
    found = await ctx.client.find(PersistentVolumeClaim, *claim.key)
    size = found.status.capacity.get("storage") if found is not None else None
    await ctx.set_status(EphemeralVolumeClaimStatus(claim=claim.metadata.name, size=size))


def make_manager() -> Manager:
    """Everything the program runs."""
    manager = Manager("volumeclaim")
    manager.controls(EphemeralVolumeClaim).owns(PersistentVolumeClaim).reconcile(reconcile)
    return manager


manager = make_manager()

if __name__ == "__main__":
    manager.run()
