"""Which volumes are to grow: those fuller than the mark, and not growing already. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from quintant.api.events import PlannedEvent
from quintant.api.quantity import Quantity, parse_quantity
from quintant.api.volume import PersistentVolumeClaim
from quintant.core.clock import timestamp
from quintant.operators.cosmos.api.full_node import PvcAutoScale
from quintant.operators.cosmos.api.status import PvcAutoScaling
from quintant.operators.cosmos.builders.claim_size import STORAGE, increased, quantity_of
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.operators.cosmos.self_healing.observed import HealingObserved

_GROWING = ("Resizing", "FileSystemResizePending")


@dataclass(frozen=True, slots=True)
class GrowthPlan:
    """The sizes that volumes are to have, by claim; the controller of claims reads the status."""

    sizes: Mapping[str, PvcAutoScaling]

    @property
    def event(self) -> PlannedEvent:
        sizes = (f"{name} to {each.requested_size}" for name, each in sorted(self.sizes.items()))
        message = f"Volumes fill up and grow: {', '.join(sizes)}"
        return PlannedEvent("Normal", "PVCAutoScale", message)

    def refusal(self, message: str) -> PlannedEvent:
        """What is reported if the server refuses."""
        return PlannedEvent("Warning", "PVCAutoScaleSignalResize", message)


def plan_growth(healing: HealingObserved) -> GrowthPlan | None:
    """The volumes to grow now, if the user asks for that."""
    wanted = healing.observed.full_node.spec.self_heal
    if wanted is None or wanted.pvc_auto_scale is None:
        return None
    sizes = larger_sizes(healing.observed, wanted.pvc_auto_scale, healing.usage)
    return GrowthPlan(sizes) if sizes else None


def larger_sizes(
    observed: Observed, scale: PvcAutoScale, used: Mapping[str, int]
) -> dict[str, PvcAutoScaling]:
    """The sizes that volumes are to have, by claim; `used` is how full each is, in percent."""
    claims = {each.metadata.name: each for each in observed.claims}
    known = observed.status.self_healing.pvc_auto_scaler
    wanted = {}
    for name, percent in sorted(used.items()):
        claim = claims.get(name)
        if claim is None or percent < scale.used_space_percentage or is_growing(claim):
            continue
        size = larger_size(claim, scale)
        before = known.get(name)
        if size is None or (before is not None and _equal(before.requested_size, size)):
            continue
        moment = timestamp(observed.now)
        wanted[name] = PvcAutoScaling(requested_size=size, requested_at=moment)
    return wanted


def larger_size(claim: PersistentVolumeClaim, scale: PvcAutoScale) -> Quantity | None:
    """The next size of a volume; None if it has the most that it may have."""
    capacity = _capacity(claim)
    size = increased(capacity, scale.increase_quantity)
    if scale.max_size is not None:
        most = parse_quantity(scale.max_size)
        if capacity >= most:
            return None
        size = min(size, most)
    return quantity_of(size)


def is_growing(claim: PersistentVolumeClaim) -> bool:
    """Whether a volume is on its way to a larger size, or has none yet."""
    resizing = any(
        each.type in _GROWING and each.status == "True" for each in claim.status.conditions
    )
    requested = claim.spec.resources.requests.get(STORAGE, Quantity("0"))
    return resizing or not claim.status.capacity or parse_quantity(requested) > _capacity(claim)


def _capacity(claim: PersistentVolumeClaim) -> Decimal:
    return parse_quantity(claim.status.capacity.get(STORAGE, Quantity("0")))


def _equal(one: Quantity, other: Quantity) -> bool:
    return parse_quantity(one) == parse_quantity(other)
