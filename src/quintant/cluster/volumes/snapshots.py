"""csiSnapshotCommonController: CSI snapshot: a VolumeSnapshot gets a VolumeSnapshotContent.

What the snapshot controller is to a real cluster. A snapshot of a claim has content of its own,
`snapcontent-<uid>`; one that names content takes what is there, if that names it in turn. The
class's deletion policy says whether the copy goes with the snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable

from quintant.api.core import PersistentVolume, PersistentVolumeClaim
from quintant.api.snapshot import (
    GROUP,
    VolumeSnapshot,
    VolumeSnapshotClass,
    VolumeSnapshotContent,
    VolumeSnapshotError,
    VolumeSnapshotStatus,
)
from quintant.cluster.common.volume_binding import BOUND, bind_completed
from quintant.cluster.volumes.snapshot_names import (
    bound_content_name,
    content_name,
    new_content,
    status_of,
)
from quintant.cluster.volumes.sources import SNAPSHOT, data_source
from quintant.core.clock import timestamp
from quintant.core.errors import AlreadyExists
from quintant.core.object import Request, replace
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile import finalizer
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.result import Result

NAME = "snapshot-controller"
BOUND_FINALIZER = "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection"
SOURCE_FINALIZER = "snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection"
DEFAULT_CLASS = "snapshot.storage.kubernetes.io/is-default-class"
BEING_DELETED = "snapshot.storage.kubernetes.io/volumesnapshot-being-deleted"
DELETE = "Delete"
RETRY_SECONDS = 5.0
"""How soon to look again at a claim that has no volume yet."""


class SnapshotNotReady(Exception):
    """A snapshot that cannot be taken, or not yet; the text says why."""


def declare(manager: Manager) -> None:
    """Add the controller of snapshots."""
    (
        manager.keyed(NAME)
        .watches(VolumeSnapshot, to=lambda snapshot: (snapshot.key,))
        .watches(VolumeSnapshotContent, to=_snapshot)
        .watches(VolumeSnapshotClass, to=lambda kind: ())
        .watches(PersistentVolumeClaim, to=_filled)
        .watches(PersistentVolume, to=lambda volume: ())
        .uses(VolumeSnapshot, "patch")
        .uses(VolumeSnapshot, "patch", sub="status")
        .uses(VolumeSnapshotContent, "create", "patch", "delete")
        .reconcile(reconcile)
    )


async def reconcile(request: Request, ctx: KeyContext) -> Result | None:
    """Give a snapshot its content, or let it go with or without it."""
    snapshot = await ctx.client.find(VolumeSnapshot, *request)
    if snapshot is None:
        return None
    if snapshot.deleting:
        await _release(snapshot, ctx)
        return None
    for name in (SOURCE_FINALIZER, BOUND_FINALIZER):
        if name not in snapshot.metadata.finalizers:
            # The next write would be refused: the cache is older than this one.
            await finalizer.add_finalizer(ctx.client, snapshot, name)
            return Result(after=0.0)
    try:
        content = await _content(snapshot, ctx)
    except SnapshotNotReady as error:
        await _fail(snapshot, f"Failed to create snapshot content with error {error}", ctx)
        return Result(after=RETRY_SECONDS)
    await _write_status(snapshot, status_of(content), ctx)
    return None


async def _content(snapshot: VolumeSnapshot, ctx: KeyContext) -> VolumeSnapshotContent:
    """The content of a snapshot, made if it is to be made."""
    given = snapshot.spec.source.volume_snapshot_content_name
    if given:
        return await _bind_existing_content(snapshot, given, ctx.client)
    found = await ctx.client.find(VolumeSnapshotContent, content_name(snapshot))
    if found is not None:
        return found
    if snapshot.status is not None and snapshot.status.bound_volume_snapshot_content_name:
        raise SnapshotNotReady("VolumeSnapshotContent is missing")
    kind = await _class(snapshot, ctx)
    made = new_content(snapshot, kind, await _handle(snapshot, kind, ctx.client))
    text = f"Waiting for a snapshot {snapshot.key} to be created by the CSI driver."
    ctx.event(snapshot, "CreatingSnapshot", text)
    try:
        return await ctx.client.create(made)
    except AlreadyExists:
        return await ctx.client.get(VolumeSnapshotContent, content_name(snapshot), live=True)


async def _bind_existing_content(
    snapshot: VolumeSnapshot, name: str, client: Client
) -> VolumeSnapshotContent:
    """Content that was there first, bound to this snapshot."""
    content = await client.find(VolumeSnapshotContent, name)
    if content is None:
        raise SnapshotNotReady("VolumeSnapshotContent is missing")
    ref, meta = content.spec.volume_snapshot_ref, snapshot.metadata
    if (ref.name, ref.namespace) != snapshot.key or ref.uid not in ("", meta.uid):
        raise SnapshotNotReady("VolumeSnapshotContent is bound to a different snapshot")
    if ref.uid == meta.uid:
        return content
    spec = replace(content.spec, volume_snapshot_ref=replace(ref, uid=meta.uid))
    return await client.patch(replace(content, spec=spec), since=content)


async def _class(snapshot: VolumeSnapshot, ctx: KeyContext) -> VolumeSnapshotClass:
    """The class of a snapshot; the default one is written into it."""
    name = snapshot.spec.volume_snapshot_class_name
    if name:
        found = await ctx.client.find(VolumeSnapshotClass, name)
        if found is None:
            raise SnapshotNotReady(f'volumesnapshotclass.{GROUP} "{name}" not found')
        return found
    classes = await ctx.client.list(VolumeSnapshotClass)
    marked = [each for each in classes if each.metadata.annotations.get(DEFAULT_CLASS) == "true"]
    if len(marked) != 1:
        raise SnapshotNotReady("cannot find default snapshot class")
    spec = replace(snapshot.spec, volume_snapshot_class_name=marked[0].metadata.name)
    await ctx.client.patch(replace(snapshot, spec=spec), since=snapshot)
    return marked[0]


async def _handle(snapshot: VolumeSnapshot, kind: VolumeSnapshotClass, client: Client) -> str:
    """What the driver calls the volume that a snapshot is of."""
    name = snapshot.spec.source.persistent_volume_claim_name or "-"
    claim = await client.find(PersistentVolumeClaim, name, snapshot.metadata.namespace)
    if claim is None:
        raise SnapshotNotReady(
            f'failed to retrieve PVC {name}: persistentvolumeclaim "{name}" not found'
        )
    if claim.status.phase != BOUND:
        text = f"the PVC {name} is not yet bound to a PV, will not attempt to take a snapshot"
        raise SnapshotNotReady(text)
    volume = await client.find(PersistentVolume, claim.spec.volume_name)
    csi = volume.spec.csi if volume is not None else None
    if csi is None or csi.driver != kind.driver:
        raise SnapshotNotReady(f"the volume of PVC {name} is not of driver {kind.driver}")
    return csi.volume_handle


async def _release(snapshot: VolumeSnapshot, ctx: KeyContext) -> None:
    """Let a snapshot go, after whoever is being filled from it, and with its content if asked."""
    if await _in_use(snapshot, ctx.client):
        return
    content = await ctx.client.find(VolumeSnapshotContent, bound_content_name(snapshot))
    ours = content is not None and content.spec.volume_snapshot_ref.uid == snapshot.metadata.uid
    if content is not None and ours and content.spec.deletion_policy == DELETE:
        await _delete_content(content, ctx.client)
        return
    for name in (SOURCE_FINALIZER, BOUND_FINALIZER):
        if name in snapshot.metadata.finalizers:
            await finalizer.remove_finalizer(ctx.client, VolumeSnapshot, snapshot.metadata, name)
            return


async def _in_use(snapshot: VolumeSnapshot, client: Client) -> bool:
    claims = await client.list(PersistentVolumeClaim, snapshot.metadata.namespace)
    return any(request == snapshot.key for claim in claims for request in _filled(claim))


async def _delete_content(content: VolumeSnapshotContent, client: Client) -> None:
    """Have content deleted; its driver removes the copy, because it is told so."""
    annotations = {**content.metadata.annotations, BEING_DELETED: "yes"}
    marked = replace(content, metadata=replace(content.metadata, annotations=annotations))
    content = await client.patch(marked, since=content)
    if not content.deleting:
        await client.delete(content)


async def _fail(snapshot: VolumeSnapshot, why: str, ctx: KeyContext) -> None:
    before = snapshot.status.error if snapshot.status is not None else None
    if before is not None and before.message == why:
        return
    ctx.event(snapshot, "SnapshotContentCreationFailed", why, type="Warning")
    error = VolumeSnapshotError(message=why, time=timestamp(ctx.clock.now()))
    await _write_status(snapshot, VolumeSnapshotStatus(ready_to_use=False, error=error), ctx)


async def _write_status(
    snapshot: VolumeSnapshot, status: VolumeSnapshotStatus, ctx: KeyContext
) -> None:
    ready = snapshot.status is not None and snapshot.status.ready_to_use
    # What was written a moment ago, such as the class, has changed the version.
    current = await ctx.client.get(VolumeSnapshot, *snapshot.key)
    await ctx.client.patch(replace(current, status=status), since=current, sub="status")
    if status.ready_to_use and not ready:
        ctx.event(snapshot, "SnapshotCreated", f"Snapshot {snapshot.key} was successfully created.")
        ctx.event(snapshot, "SnapshotReady", f"Snapshot {snapshot.key} is ready to use.")


def _snapshot(content: VolumeSnapshotContent) -> Iterable[Request]:
    ref = content.spec.volume_snapshot_ref
    return (Request(ref.name, ref.namespace),)


def _filled(claim: PersistentVolumeClaim) -> Iterable[Request]:
    """The snapshot that a claim's volume is still to be filled from."""
    source = data_source(claim)
    if source is None or source.kind != SNAPSHOT or bind_completed(claim):
        return ()
    return (Request(source.name, claim.metadata.namespace),)
