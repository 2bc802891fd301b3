"""syncVolume: a volume is Available, Bound or Released, and forgets claims that are gone.

What becomes of the data is the provisioner's business: it waits for Released. Volumes that nobody
provisioned and that are to be deleted say that nobody can.
"""

from __future__ import annotations

from collections.abc import Iterable

from quintant.api.core import PersistentVolume, PersistentVolumeClaim, PersistentVolumeStatus
from quintant.cluster.common.volume_binding import (
    AVAILABLE,
    BOUND,
    DELETE,
    FAILED,
    PROVISIONED_BY,
    RELEASED,
    unbound_volume,
)
from quintant.core.clock import timestamp
from quintant.core.object import Request, replace
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.result import Result

NAME = "persistentvolume-controller"
UNNAMED_SECONDS = 5.0
"""How soon to look again at a claim that is only half bound."""


def declare(manager: Manager) -> None:
    """Add the controller of volumes."""
    (
        manager.keyed(NAME)
        .watches(PersistentVolume, to=lambda volume: (volume.key,))
        .watches(PersistentVolumeClaim, to=_named)
        .uses(PersistentVolume, "patch")
        .uses(PersistentVolume, "patch", sub="status")
        .reconcile(reconcile)
    )


async def reconcile(request: Request, ctx: KeyContext) -> Result | None:
    """Make a volume tell how it stands with its claim, also while it is being deleted."""
    volume = await ctx.client.find(PersistentVolume, request.name)
    if volume is None:
        return None
    ref = volume.spec.claim_ref
    if ref is None or not ref.uid:
        await _write_status(volume, AVAILABLE, ctx)
        return None
    claim = await ctx.client.find(PersistentVolumeClaim, ref.name, ref.namespace)
    if claim is None or claim.metadata.uid != ref.uid:
        await _released(volume, ctx)
    elif claim.spec.volume_name in ("", volume.metadata.name):
        await _write_status(volume, BOUND, ctx)
        # A claim that does not name the volume yet may go before it does.
        return None if claim.spec.volume_name else Result(after=UNNAMED_SECONDS)
    elif PROVISIONED_BY in volume.metadata.annotations and _is_reclaimed(volume):
        # It was made for a claim that found another volume meanwhile.
        await _write_status(volume, RELEASED, ctx)
    else:
        await ctx.client.patch(unbound_volume(volume), since=volume)
    return None


async def _released(volume: PersistentVolume, ctx: KeyContext) -> None:
    host = volume.spec.host_path
    if not _is_reclaimed(volume) or PROVISIONED_BY in volume.metadata.annotations or host is None:
        await _write_status(volume, RELEASED, ctx)
        return
    why = f"nobody deletes the files of hostPath {host.path}"
    if volume.status.phase != FAILED:
        ctx.event(volume, "VolumeFailedDelete", why, type="Warning")
    await _write_status(volume, FAILED, ctx, why)


async def _write_status(
    volume: PersistentVolume, phase: str, ctx: KeyContext, why: str = ""
) -> None:
    if (volume.status.phase, volume.status.message) == (phase, why):
        return
    since = volume.status.last_phase_transition_time
    if volume.status.phase != phase:
        since = timestamp(ctx.clock.now())
    status = PersistentVolumeStatus(phase=phase, message=why, last_phase_transition_time=since)
    await ctx.client.patch(replace(volume, status=status), since=volume, sub="status")


def _is_reclaimed(volume: PersistentVolume) -> bool:
    return volume.spec.persistent_volume_reclaim_policy == DELETE


def _named(claim: PersistentVolumeClaim) -> Iterable[Request]:
    return (Request(claim.spec.volume_name),) if claim.spec.volume_name else ()
