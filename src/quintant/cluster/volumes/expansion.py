"""external-resizer resizeController: how a volume grows with its claim: at once, later, never.

What an external resizer and a kubelet do together. A folder has room anyway, so growth is what is
told; the annotation `simulated.quintant.dev/growth` of a claim, or the parameter `growth` of its
class, makes it go as on other storage. `plan_expansion` decides (pure), `Expander` acts.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from enum import Enum

from msgspec import Struct, field

from quintant.api.core import (
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
    Pod,
)
from quintant.api.events import EventType
from quintant.api.meta import condition_of, set_condition
from quintant.api.quantity import Quantity, parse_quantity
from quintant.api.storage import StorageClass
from quintant.api.volume import Volume
from quintant.cluster.common.labels import GROWTH
from quintant.cluster.common.volume_binding import BOUND, STORAGE, requested_storage
from quintant.cluster.common.volume_paths import DRIVER
from quintant.core.object import Model, Object, replace
from quintant.core.resource import projection
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result

PARAMETER = "growth"
LOOK_SECONDS = 1.0
"""How often it is looked whether a pod has started with a volume that waits for one."""
WAITING, REFUSED = "FileSystemResizePending", "ControllerResizeError"
"""The types of conditions of claims whose volume has not grown."""
_WAITING_TEXT = (
    "Waiting for user to (re-)start a pod to finish file system resize of volume on node."
)
_REFUSED_TEXT = 'resize volume "{}" by resizer "{}" failed: the volume was told not to grow'
_MOUNTED = ("Running", "Succeeded", "Failed")
"""The phases of a pod whose volumes are, or were, at its disposal."""


class Growth(Enum):
    """How the volume of a claim grows."""

    AT_ONCE = ""
    REFUSED = "refused"
    """The storage says no, and the claim says so."""
    PENDING = "pending"
    """The volume does, its file system only when a pod starts with it."""


class ExpansionEvent(Struct, frozen=True):
    """What there is to tell of a claim."""

    reason: str
    message: str
    type: EventType = "Normal"


class ExpansionPlan(Struct, frozen=True):
    """What is to become of a claim that asks for more than it has."""

    status: PersistentVolumeClaimStatus
    """What is to be said of it, as far as that is ours to say."""
    grows: bool = True
    """Whether the volume itself becomes as large as asked for."""
    event: ExpansionEvent | None = None


class PodVolumes(Model):
    """The volumes of a pod."""

    volumes: tuple[Volume, ...] = ()


class PodPhase(Model):
    """How far a pod has come."""

    phase: str = ""


@projection(Pod)
class MountingPod(Object):
    """A pod, as far as it matters to the claims that it uses."""

    spec: PodVolumes = PodVolumes()
    status: PodPhase = PodPhase()


def growth_of(claim: PersistentVolumeClaim, kind: StorageClass | None) -> Growth:
    """How a claim's volume grows; a word that nobody knows means at once."""
    word = claim.metadata.annotations.get(GROWTH)
    if word is None and kind is not None:
        word = kind.parameters.get(PARAMETER)
    known = {growth.value: growth for growth in Growth}
    return known.get(word or "", Growth.AT_ONCE)


def plan_expansion(
    claim: PersistentVolumeClaim,
    volume: PersistentVolume,
    growth: Growth,
    now: datetime,
    *,
    remounted: bool,
) -> ExpansionPlan:
    """What follows from what a claim asks for; `remounted`: a pod has started with it since."""
    name = volume.metadata.name
    if growth is Growth.REFUSED and _size(volume.spec.capacity) < requested_storage(claim):
        text = _REFUSED_TEXT.format(name, DRIVER)
        return ExpansionPlan(
            _unfinished(claim, REFUSED, "ControllerResizeInfeasible", text, now),
            grows=False,
            event=ExpansionEvent("VolumeResizeFailed", text, "Warning"),
        )
    if growth is Growth.PENDING and not remounted:
        return ExpansionPlan(
            _unfinished(claim, WAITING, "NodeResizePending", _WAITING_TEXT, now),
            event=ExpansionEvent(
                "FileSystemResizeRequired", "Require file system resize of volume on node"
            ),
        )
    waited = condition_of(claim.status.conditions, WAITING) is not None
    return ExpansionPlan(
        PersistentVolumeClaimStatus(capacity=_requested(claim)),
        event=_success(name) if waited else _RESIZED,
    )


class Expander(Struct, frozen=True):
    """Lets volumes grow."""

    before: dict[str, frozenset[str]] = field(default_factory=dict)
    """The pods that were there when a volume began to wait for one, by the uid of the claim."""

    async def expand(
        self,
        claim: PersistentVolumeClaim,
        kind: StorageClass | None,
        ctx: Context[PersistentVolumeClaim],
    ) -> Result | None:
        """Let the volume of a bound claim be as large as the claim asks for."""
        volume = await ctx.client.find(PersistentVolume, claim.spec.volume_name or "-")
        ours = volume is not None and volume.spec.csi and volume.spec.csi.driver == DRIVER
        if volume is None or not ours or claim.status.phase != BOUND:
            return None
        if _size(claim.status.capacity) >= requested_storage(claim):
            self.before.pop(claim.metadata.uid, None)
            return None
        growth = growth_of(claim, kind)
        remounted = growth is Growth.PENDING and await self._remounted(claim, ctx)
        now = ctx.clock.now()
        plan = plan_expansion(claim, volume, growth, now, remounted=remounted)
        await _carry_out(plan, claim, volume, ctx)
        waits = growth is Growth.PENDING and not remounted
        return Result(after=LOOK_SECONDS) if waits else None

    async def _remounted(
        self, claim: PersistentVolumeClaim, ctx: Context[PersistentVolumeClaim]
    ) -> bool:
        """Whether a pod runs with a claim that was not there when its volume began to wait."""
        # Read now and then, and kept by nobody: such claims are few, and of tests.
        pods = await ctx.client.list(MountingPod, claim.metadata.namespace, live=True)
        users = [pod for pod in pods if _uses(pod, claim)]
        known = self.before.setdefault(
            claim.metadata.uid, frozenset(pod.metadata.uid for pod in users)
        )
        return any(pod.metadata.uid not in known and _runs(pod) for pod in users)


async def _carry_out(
    plan: ExpansionPlan,
    claim: PersistentVolumeClaim,
    volume: PersistentVolume,
    ctx: Context[PersistentVolumeClaim],
) -> None:
    if plan.grows and _size(volume.spec.capacity) < requested_storage(claim):
        spec = replace(volume.spec, capacity=_requested(claim))
        await ctx.client.patch(replace(volume, spec=spec), since=volume)
    if plan.status == _own_status(claim):
        return
    await ctx.client.set_status(claim, plan.status)
    if plan.event is not None:
        ctx.event(plan.event.reason, plan.event.message, type=plan.event.type)


_RESIZED = ExpansionEvent("VolumeResizeSuccessful", "Resize volume succeeded")


def _success(volume: str) -> ExpansionEvent:
    text = f'MountVolume.NodeExpandVolume succeeded for volume "{volume}"'
    return ExpansionEvent("FileSystemResizeSuccessful", text)


def _unfinished(
    claim: PersistentVolumeClaim, type: str, state: str, message: str, now: datetime
) -> PersistentVolumeClaimStatus:
    """What we say of a claim whose growth has come to a stop."""
    known = tuple(each for each in claim.status.conditions if each.type == type)
    return PersistentVolumeClaimStatus(
        capacity=claim.status.capacity,
        conditions=set_condition(known, type, status=True, reason="", message=message, now=now),
        allocated_resources=_requested(claim),
        allocated_resource_statuses={STORAGE: state},
    )


def _own_status(claim: PersistentVolumeClaim) -> PersistentVolumeClaimStatus:
    """What we have said of a claim."""
    status = claim.status
    return PersistentVolumeClaimStatus(
        capacity=status.capacity,
        conditions=tuple(each for each in status.conditions if each.type in (WAITING, REFUSED)),
        allocated_resources=status.allocated_resources,
        allocated_resource_statuses=status.allocated_resource_statuses,
    )


def _requested(claim: PersistentVolumeClaim) -> Mapping[str, Quantity]:
    return {STORAGE: claim.spec.resources.requests[STORAGE]}


def _size(amounts: Mapping[str, Quantity]) -> Decimal:
    return parse_quantity(amounts.get(STORAGE, "0"))


def _uses(pod: MountingPod, claim: PersistentVolumeClaim) -> bool:
    return any(
        volume.persistent_volume_claim is not None
        and volume.persistent_volume_claim.claim_name == claim.metadata.name
        for volume in pod.spec.volumes
    )


def _runs(pod: MountingPod) -> bool:
    return pod.status.phase in _MOUNTED
