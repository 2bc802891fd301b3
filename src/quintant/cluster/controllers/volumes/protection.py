"""pvcprotection.Controller, pvprotection.Controller: finalizer removal once storage is unused.

Both carry a finalizer from the beginning, and lose it when they are to be deleted and nobody uses
them. A pod uses its claims from when it has a node until it is gone, even if it has ended.
"""

from __future__ import annotations

from collections.abc import Iterable

from quintant.api.core import PersistentVolume, PersistentVolumeClaim
from quintant.cluster.common.volume_binding import BOUND
from quintant.cluster.controllers.pods.views import PodState, claim_names
from quintant.core.object import Object, Request
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result

CLAIMS = "pvc-protection-controller"
VOLUMES = "pv-protection-controller"
CLAIM_FINALIZER = "kubernetes.io/pvc-protection"
VOLUME_FINALIZER = "kubernetes.io/pv-protection"
IN_USE = Result(after=60.0)
"""Look again in a minute; whatever ends the use is seen at once."""


def declare(manager: Manager) -> None:
    """Add the controllers that protect claims and volumes."""
    (
        manager.controls(PersistentVolumeClaim, name=CLAIMS)
        .finalize(CLAIM_FINALIZER, release_claim)
        .watches(PodState, to=_used)
        .reconcile(_protected)
    )
    (
        manager.controls(PersistentVolume, name=VOLUMES)
        .finalize(VOLUME_FINALIZER, release_volume)
        .reconcile(_protected)
    )


async def release_claim(
    claim: PersistentVolumeClaim, ctx: Context[PersistentVolumeClaim]
) -> Result | None:
    """Hold a claim that shall go for as long as pods use it."""
    name, namespace = ctx.request
    pods = await ctx.client.list(PodState, namespace)
    used = any(pod.spec.node_name and name in claim_names(pod) for pod in pods)
    return IN_USE if used else None


async def release_volume(volume: PersistentVolume, ctx: Context[PersistentVolume]) -> Result | None:
    """Hold a volume that shall go for as long as it is bound."""
    return IN_USE if volume.status.phase == BOUND else None


async def _protected(obj: Object, ctx: Context[Object]) -> None:
    """The finalizer is there, and that is all."""


def _used(pod: PodState) -> Iterable[Request]:
    return [Request(name, pod.metadata.namespace) for name in claim_names(pod)]
