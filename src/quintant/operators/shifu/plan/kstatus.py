"""Ready of a device, and by which conditions it is reconciling or stalled. Pure.

Ready depends on what its agent says, so it is judged over the newest status.
"""

from __future__ import annotations

from datetime import datetime

from quintant.api.meta import ConditionClaim, condition_of, set_conditions
from quintant.core.object import replace
from quintant.operators.shifu.api.device import (
    PENDING,
    REACHABLE,
    RUNNING,
    SCHEDULED,
    VALID,
    EdgeDeviceStatus,
)
from quintant.operators.shifu.api.device import READY as SHIFU_READY
from quintant.operators.shifu.observed.device_view import OUR_WORDS
from quintant.operators.shifu.observed.outcome import NAME_TAKEN, REFUSED
from quintant.operators.shifu.plan.conditions import SETTLING
from quintant.runtime.reconcile.kstatus import READY, reconciling, stalled, with_kstatus

KSTATUS = (
    stalled(VALID, "False"),
    stalled(SHIFU_READY, "False", NAME_TAKEN, REFUSED),
    stalled(SCHEDULED, "False", "NodeLocalDeviceWithoutNode"),
    reconciling(SCHEDULED, "False", SETTLING),
    reconciling(SHIFU_READY, "False", "NotCreated", "Unavailable"),
    reconciling(READY, "False", PENDING),
)


def with_verdict(
    status: EdgeDeviceStatus, generation: int | None, now: datetime
) -> EdgeDeviceStatus:
    """The status with Ready, and what follows: by our conditions, and by what its agent says."""
    claims = (_whole(status),)
    found = set_conditions(status.conditions, claims, generation=generation, now=now)
    found = with_kstatus(found, KSTATUS, generation=generation, now=now)
    return replace(status, conditions=found)


def _whole(status: EdgeDeviceStatus) -> ConditionClaim:
    """Whether a device can be used: its deviceShifu is up, and reaches it."""
    up = condition_of(status.conditions, SHIFU_READY)
    if up is None or up.status != "True":
        reason, message = (up.reason, up.message) if up is not None else (PENDING, "")
        return ConditionClaim(READY, up.status if up is not None else "False", reason, message)
    if status.phase == RUNNING:
        return ConditionClaim(READY, "True", RUNNING, "its deviceShifu reaches it")
    reached = condition_of(status.conditions, REACHABLE)
    if reached is not None and reached.reason in OUR_WORDS:
        # No agent will say how it is: there is nothing to wait for.
        return ConditionClaim(READY, "Unknown", reached.reason, reached.message)
    message = reached.message if reached is not None else "its deviceShifu has not said how it is"
    return ConditionClaim(READY, "False", status.phase or PENDING, message)
