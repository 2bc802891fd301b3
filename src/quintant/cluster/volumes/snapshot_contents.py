"""csiSnapshotSideCarController: VolumeSnapshotContents: CSI snapshots made and removed.

What the snapshotter beside a CSI driver is to a real cluster. A copy is of the moment at which it
is made; what a program has not written by then is not in it.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from quintant.api.core import PersistentVolume
from quintant.api.quantity import bounded_quantity
from quintant.api.snapshot import (
    VolumeSnapshot,
    VolumeSnapshotContent,
    VolumeSnapshotContentStatus,
    VolumeSnapshotError,
)
from quintant.cluster.common.volume_binding import STORAGE
from quintant.cluster.common.volume_paths import DRIVER, snapshot_handle
from quintant.cluster.volumes.directories import (
    DirectoryKind,
    SourceMissing,
    VolumeBackend,
    VolumeDirectory,
)
from quintant.cluster.volumes.snapshot_names import bound_content_name
from quintant.cluster.volumes.snapshots import BEING_DELETED, DELETE
from quintant.core.clock import timestamp
from quintant.core.object import Request, replace
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile import finalizer
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.result import Result

NAME = "directory-snapshotter"
FINALIZER = "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"
RETRY_SECONDS = 10.0
"""How soon to try a copy again that failed."""
_NANOSECONDS = 10**9


class Snapshotter(Struct, frozen=True):
    """The controller of contents that are folders."""

    disk: VolumeBackend

    def declare(self, manager: Manager) -> None:
        """Add it to a manager."""
        (
            manager.keyed(NAME)
            .watches(VolumeSnapshotContent, to=lambda content: (content.key,))
            .watches(PersistentVolume, to=lambda volume: ())
            .watches(VolumeSnapshot, to=_contents)
            .uses(VolumeSnapshotContent, "patch")
            .uses(VolumeSnapshotContent, "patch", sub="status")
            .reconcile(self.reconcile)
        )

    async def reconcile(self, request: Request, ctx: KeyContext) -> Result | None:
        """Make the copy that content stands for, or remove it."""
        content = await ctx.client.find(VolumeSnapshotContent, request.name)
        if content is None or content.spec.driver != DRIVER:
            return None
        if content.deleting:
            await self._release(content, ctx)
            return None
        if FINALIZER not in content.metadata.finalizers:
            await finalizer.add_finalizer(ctx.client, content, FINALIZER)
            return Result(after=0.0)
        if content.status is not None and content.status.ready_to_use:
            return None
        try:
            status = await self._copy(content, ctx)
        except (SourceMissing, OSError) as error:
            text = f"Failed to create snapshot: {error}"
            ctx.event(content, "SnapshotCreationFailed", text, type="Warning")
            failed = VolumeSnapshotError(message=text, time=timestamp(ctx.clock.now()))
            await _write_status(
                content, VolumeSnapshotContentStatus(ready_to_use=False, error=failed), ctx
            )
            return Result(after=RETRY_SECONDS)
        await _write_status(content, status, ctx)
        return None

    async def _copy(
        self, content: VolumeSnapshotContent, ctx: KeyContext
    ) -> VolumeSnapshotContentStatus:
        """What content tells once its copy is there."""
        given, handle = content.spec.source.volume_handle, snapshot_handle(content)
        size = 0
        if given:
            handle = f"snapshot-{content.metadata.uid}"
            size = _capacity(given, await ctx.client.list(PersistentVolume))
            await self.disk.make(
                VolumeDirectory(DirectoryKind.SNAPSHOT, handle),
                VolumeDirectory(DirectoryKind.VOLUME, given),
            )
        elif not await self.disk.exists(VolumeDirectory(DirectoryKind.SNAPSHOT, handle)):
            raise SourceMissing(f"the snapshot {handle} has no folder")
        now = ctx.clock.now()
        since = int(now.timestamp()) * _NANOSECONDS + now.microsecond * 1000
        return VolumeSnapshotContentStatus(
            snapshot_handle=handle, creation_time=since, restore_size=size, ready_to_use=True
        )

    async def _release(self, content: VolumeSnapshotContent, ctx: KeyContext) -> None:
        """Let go of content that no snapshot stands for any more, and of its copy if asked to."""
        if FINALIZER not in content.metadata.finalizers:
            return
        wanted = BEING_DELETED in content.metadata.annotations
        if not wanted and await _bound(content, ctx.client):
            return
        if content.spec.deletion_policy == DELETE and snapshot_handle(content):
            await self.disk.remove(
                VolumeDirectory(DirectoryKind.SNAPSHOT, snapshot_handle(content))
            )
        await finalizer.remove_finalizer(ctx.client, type(content), content.metadata, FINALIZER)


async def _bound(content: VolumeSnapshotContent, client: Client) -> bool:
    """Whether the snapshot that content is for is still there."""
    ref = content.spec.volume_snapshot_ref
    found = await client.find(VolumeSnapshot, ref.name, ref.namespace)
    return found is not None and bool(ref.uid) and found.metadata.uid == ref.uid


async def _write_status(
    content: VolumeSnapshotContent, status: VolumeSnapshotContentStatus, ctx: KeyContext
) -> None:
    await ctx.client.patch(replace(content, status=status), since=content, sub="status")


def _contents(snapshot: VolumeSnapshot) -> Iterable[Request]:
    return (Request(bound_content_name(snapshot)),)


def _capacity(handle: str, volumes: Iterable[PersistentVolume]) -> int:
    """How large a volume is, by its handle."""
    for volume in volumes:
        if volume.spec.csi is not None and volume.spec.csi.volume_handle == handle:
            return int(bounded_quantity(volume.spec.capacity.get(STORAGE, "0")))
    return 0
