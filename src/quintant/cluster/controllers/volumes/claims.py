"""syncClaim, syncUnboundClaim: a claim gets a volume that fits, or one from a provisioner.

The words of events are those of a real cluster: people look for them. A claim whose class waits for
its first consumer is left alone until the scheduler has chosen a node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from quintant.api.core import PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimStatus
from quintant.api.events import EventType
from quintant.api.storage import StorageClass
from quintant.cluster.common.volume_binding import (
    DEFAULT_CLASS,
    PROVISIONER,
    bind_completed,
    binding_delayed,
    bound_claim,
    bound_status,
    bound_volume,
    class_name,
    find_volume,
    mismatch,
    refers_to_claim,
    waits_for_consumer,
)
from quintant.core.object import replace
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import Context

NAME = "persistentvolume-binder"
OLD_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
PENDING = "Pending"
LOST = "Lost"
_NOTHING = "no persistent volumes available for this claim and no storage class is set"
_CLASS, _VOLUME = "class", "volume"


def declare(manager: Manager) -> None:
    """Add the controller that binds claims."""
    (
        manager.controls(PersistentVolumeClaim, name=NAME)
        .index(_CLASS, _unbound)
        .index(_VOLUME, _named)
        .watches(PersistentVolume, to=by_index(_CLASS, lambda pv: (pv.spec.storage_class_name,)))
        .watches(PersistentVolume, to=by_index(_VOLUME, lambda pv: (pv.metadata.name,)))
        .watches(StorageClass, to=by_index(_CLASS, lambda kind: (kind.metadata.name, "")))
        .uses(PersistentVolume, "patch")
        .reconcile(reconcile)
    )


async def reconcile(claim: PersistentVolumeClaim, ctx: Context[PersistentVolumeClaim]) -> None:
    """Bring a claim one step nearer to its volume."""
    if bind_completed(claim):
        await _sync_bound_claim(claim, ctx)
    elif claim.spec.volume_name:
        await _bind_named_volume(claim, ctx)
    else:
        await _bind_or_provision(claim, ctx)


async def _sync_bound_claim(
    claim: PersistentVolumeClaim, ctx: Context[PersistentVolumeClaim]
) -> None:
    """Look after a claim that was bound."""
    volume = await ctx.client.find(PersistentVolume, claim.spec.volume_name)
    if volume is None:
        text = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
        await _mark_lost(ctx, "ClaimLost", text)
    elif volume.spec.claim_ref is None or refers_to_claim(volume, claim):
        await _bind(claim, volume, ctx)
    else:
        text = "Two claims are bound to the same volume, this one is bound incorrectly"
        await _mark_lost(ctx, "ClaimMisbound", text)


async def _bind_named_volume(
    claim: PersistentVolumeClaim, ctx: Context[PersistentVolumeClaim]
) -> None:
    """Bind a claim to the volume that its author named."""
    name = claim.spec.volume_name
    volume = await ctx.client.find(PersistentVolume, name)
    if volume is None:
        await _wait(claim, ctx)
    elif volume.spec.claim_ref is not None and not refers_to_claim(volume, claim):
        text = f'volume "{name}" already bound to a different claim.'
        await _wait(claim, ctx, "Warning", "FailedBinding", text)
    elif why := mismatch(claim, volume):
        text = f'Cannot bind to requested volume "{name}": {why}'
        await _wait(claim, ctx, "Warning", "VolumeMismatch", text)
    else:
        await _bind(claim, volume, ctx)


async def _bind_or_provision(
    claim: PersistentVolumeClaim, ctx: Context[PersistentVolumeClaim]
) -> None:
    """Bind a claim to whatever fits, or have something made that does."""
    name = class_name(claim)
    kind = await ctx.client.find(StorageClass, name) if name else None
    volume = find_volume(
        claim, await ctx.client.list(PersistentVolume), reserved=waits_for_consumer(kind)
    )
    if volume is not None:
        await _bind(claim, volume, ctx)
    elif binding_delayed(claim, kind):
        text = "waiting for first consumer to be created before binding"
        await _wait(claim, ctx, "Normal", "WaitForFirstConsumer", text)
    elif not name:
        if claim.spec.storage_class_name is None and await _adopted(claim, ctx):
            return
        await _wait(claim, ctx, "Normal", "FailedBinding", _NOTHING)
    elif kind is None:
        text = f'storageclass.storage.k8s.io "{name}" not found'
        await _wait(claim, ctx, "Warning", "ProvisioningFailed", text)
    elif kind.provisioner == NO_PROVISIONER:
        await _wait(claim, ctx, "Normal", "FailedBinding", "no volume plugin matched")
    else:
        await _provision(claim, kind.provisioner, ctx)


async def _bind(
    claim: PersistentVolumeClaim, volume: PersistentVolume, ctx: Context[PersistentVolumeClaim]
) -> None:
    """Let both name each other, the volume first: a crash in between is made good by either."""
    await ctx.client.patch(bound_volume(volume, claim), since=volume)
    claim = await ctx.client.patch(bound_claim(claim, volume), since=claim)
    await _write_status(claim, bound_status(claim, volume), ctx)


async def _provision(
    claim: PersistentVolumeClaim, provisioner: str, ctx: Context[PersistentVolumeClaim]
) -> None:
    """Ask a provisioner for a volume, by an annotation."""
    requests = dict.fromkeys((OLD_PROVISIONER, PROVISIONER), provisioner)
    annotations = {**claim.metadata.annotations, **requests}
    made = replace(claim, metadata=replace(claim.metadata, annotations=annotations))
    claim = await ctx.client.patch(made, since=claim)
    text = (
        "Waiting for a volume to be created either by the external provisioner "
        f"'{provisioner}' or manually by the system administrator. If volume creation is delayed, "
        "please verify that the provisioner is running and correctly registered."
    )
    await _wait(claim, ctx, "Normal", "ExternalProvisioning", text)


async def _adopted(claim: PersistentVolumeClaim, ctx: Context[PersistentVolumeClaim]) -> bool:
    """Give a claim without a class the default one, if there is one by now."""
    found = default_storage_class(await ctx.client.list(StorageClass))
    if found is None:
        return False
    spec = replace(claim.spec, storage_class_name=found.metadata.name)
    await ctx.client.patch(replace(claim, spec=spec), since=claim)
    return True


async def _wait(
    claim: PersistentVolumeClaim,
    ctx: Context[PersistentVolumeClaim],
    type: EventType = "Normal",
    reason: str = "",
    text: str = "",
) -> None:
    if reason:
        ctx.event(reason, text, type=type, regarding=claim)
    await _write_status(claim, replace(claim.status, phase=PENDING), ctx)


async def _mark_lost(ctx: Context[PersistentVolumeClaim], reason: str, text: str) -> None:
    if ctx.obj.status.phase != LOST:
        ctx.event(reason, text, type="Warning")
    await _write_status(ctx.obj, PersistentVolumeClaimStatus(phase=LOST), ctx)


async def _write_status(
    claim: PersistentVolumeClaim,
    status: PersistentVolumeClaimStatus,
    ctx: Context[PersistentVolumeClaim],
) -> None:
    await ctx.client.patch(replace(claim, status=status), since=claim, sub="status")


def default_storage_class(classes: Iterable[StorageClass]) -> StorageClass | None:
    """The class of claims that name none: of several the newest, then the first by name."""
    marked = [each for each in classes if each.metadata.annotations.get(DEFAULT_CLASS) == "true"]
    ordered = sorted(marked, key=lambda each: each.metadata.name)
    return max(ordered, key=lambda each: each.metadata.creation_timestamp or "", default=None)


def _unbound(claim: PersistentVolumeClaim) -> Iterator[str]:
    if not bind_completed(claim):
        yield class_name(claim)


def _named(claim: PersistentVolumeClaim) -> Iterator[str]:
    if claim.spec.volume_name:
        yield claim.spec.volume_name
