"""external-provisioner csiProvisioner: volumes for claims: provisioned, filled, grown, deleted.

What an external provisioner and resizer are to a CSI driver. A claim is taken up when the binder
has named our driver in its annotation. Sizes are what a claim says: nobody holds a folder to one.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from quintant.api.core import (
    CSIPersistentVolumeSource,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
)
from quintant.api.meta import ObjectMeta
from quintant.api.snapshot import VolumeSnapshot
from quintant.api.storage import StorageClass
from quintant.cluster.common.volume_binding import (
    BOUND,
    DELETE,
    FILESYSTEM,
    PROVISIONED_BY,
    PROVISIONER,
    RELEASED,
    STORAGE,
    bind_completed,
    binding_delayed,
    claim_reference,
    class_name,
    requested_storage,
)
from quintant.cluster.common.volume_paths import DRIVER
from quintant.cluster.volumes.directories import (
    DirectoryKind,
    SourceMissing,
    VolumeBackend,
    VolumeDirectory,
)
from quintant.cluster.volumes.expansion import Expander, MountingPod
from quintant.cluster.volumes.sources import (
    SNAPSHOT,
    CopySource,
    DataSourceUnusable,
    data_source,
    find_data_source,
)
from quintant.core.errors import AlreadyExists
from quintant.core.object import Request
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile import finalizer
from quintant.runtime.reconcile.context import Context, KeyContext
from quintant.runtime.reconcile.result import Result

NAME = "directory-provisioner"
REMOVER = "directory-remover"
FINALIZER = "external-provisioner.volume.kubernetes.io/finalizer"
SOURCE_SECONDS = 5.0
"""How soon to look again at a source that is not ready; changes of snapshots are seen at once."""
_SOURCE = "source"


class Provisioner(Struct, frozen=True):
    """The controllers of volumes that are folders."""

    disk: VolumeBackend
    expander: Expander = field(default_factory=Expander)

    def declare(self, manager: Manager) -> None:
        """Add them to a manager."""
        (
            manager.controls(PersistentVolumeClaim, name=NAME)
            .index(_SOURCE, _snapshots)
            .watches(StorageClass, to=lambda kind: ())
            .watches(VolumeSnapshot, to=by_index(_SOURCE))
            .uses(PersistentVolume, "create", "patch")
            .uses(MountingPod, "list")
            .reconcile(self.claim)
        )
        (
            manager.keyed(REMOVER)
            .watches(PersistentVolume, to=lambda volume: (volume.key,))
            .uses(PersistentVolume, "delete")
            .reconcile(self.volume)
        )

    async def claim(
        self, claim: PersistentVolumeClaim, ctx: Context[PersistentVolumeClaim]
    ) -> Result | None:
        """Make the volume of a claim, or let it grow."""
        if claim.metadata.annotations.get(PROVISIONER) != DRIVER:
            return None
        kind = await ctx.client.find(StorageClass, class_name(claim) or "-")
        if bind_completed(claim):
            return await self.expander.expand(claim, kind, ctx)
        if claim.spec.volume_name or kind is None or binding_delayed(claim, kind):
            return None
        try:
            await self._provision(claim, kind, ctx)
        except (DataSourceUnusable, SourceMissing) as error:
            text = f'failed to provision volume with StorageClass "{kind.metadata.name}": {error}'
            ctx.event("ProvisioningFailed", text, type="Warning")
            return Result(after=SOURCE_SECONDS)
        return None

    async def volume(self, request: Request, ctx: KeyContext) -> None:
        """Remove a volume that was left behind, with its folder; keep the folder if asked to."""
        volume = await ctx.client.find(PersistentVolume, request.name)
        if volume is None or volume.metadata.annotations.get(PROVISIONED_BY) != DRIVER:
            return
        doomed = volume.spec.persistent_volume_reclaim_policy == DELETE
        unused = volume.status.phase == RELEASED or (
            volume.deleting and volume.status.phase != BOUND
        )
        if not unused or not (doomed or volume.deleting):
            return
        if doomed and volume.spec.csi is not None:
            await self.disk.remove(
                VolumeDirectory(DirectoryKind.VOLUME, volume.spec.csi.volume_handle)
            )
        if not volume.deleting:
            await ctx.client.delete(volume)
        elif FINALIZER in volume.metadata.finalizers:
            await finalizer.remove_finalizer(ctx.client, type(volume), volume.metadata, FINALIZER)

    async def _provision(
        self, claim: PersistentVolumeClaim, kind: StorageClass, ctx: Context[PersistentVolumeClaim]
    ) -> None:
        if (claim.spec.volume_mode or FILESYSTEM) != FILESYSTEM:
            raise DataSourceUnusable("a folder cannot be a block device")
        origin = await find_data_source(claim, ctx.client)
        _check_size(claim, origin)
        made = new_volume(claim, kind)
        folder = VolumeDirectory(DirectoryKind.VOLUME, made.metadata.name)
        await self.disk.make(folder, origin.folder if origin else None)
        try:
            await ctx.client.create(made)
        except AlreadyExists:
            # A crash, or a slow watch: it was us, and the binder does the rest.
            return
        text = f"Successfully provisioned volume {made.metadata.name}"
        ctx.event("ProvisioningSucceeded", text)


def new_volume(claim: PersistentVolumeClaim, kind: StorageClass) -> PersistentVolume:
    """The volume to be made for a claim."""
    name = f"pvc-{claim.metadata.uid}"
    policy = kind.reclaim_policy or DELETE
    return PersistentVolume(
        metadata=ObjectMeta(
            name=name,
            annotations={PROVISIONED_BY: DRIVER},
            finalizers=(FINALIZER,) if policy == DELETE else (),
        ),
        spec=PersistentVolumeSpec(
            capacity={STORAGE: claim.spec.resources.requests[STORAGE]},
            access_modes=claim.spec.access_modes,
            claim_ref=claim_reference(claim),
            persistent_volume_reclaim_policy=policy,
            storage_class_name=kind.metadata.name,
            volume_mode=FILESYSTEM,
            csi=CSIPersistentVolumeSource(driver=DRIVER, volume_handle=name),
        ),
    )


def _check_size(claim: PersistentVolumeClaim, origin: CopySource | None) -> None:
    if origin is not None and requested_storage(claim) < origin.size:
        raise DataSourceUnusable(
            f"requested volume size {requested_storage(claim)} is less than the size {origin.size} "
            "for the source"
        )


def _snapshots(claim: PersistentVolumeClaim) -> Iterator[str]:
    source = data_source(claim)
    if not bind_completed(claim) and source is not None and source.kind == SNAPSHOT:
        yield f"{claim.metadata.namespace}/{source.name}"
