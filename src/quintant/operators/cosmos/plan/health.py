"""The conditions of the further kinds: Healthy, Ready, and what follows from them. Pure.

Healthy   is what they do going well?   Ready   is done what they are for?
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from quintant.api.meta import Condition, ConditionClaim, set_conditions
from quintant.runtime.reconcile.kstatus import READY, stalled, with_kstatus

HEALTHY = "Healthy"
WORKING = "Working"
WHILE_RUNNING = "SnapshotWhileRunning"
"""A warning: copies are made all the same."""
KSTATUS = (
    stalled(
        HEALTHY, "False", "SpecInvalid", "NameTaken", "IntervalInvalid", "FindNextSnapshotTimeError"
    ),
)
"""What runs by the clock is not reconciling when its time has come: it does what it is for."""


def with_health(
    known: Sequence[Condition], problem: tuple[str, str], generation: int, now: datetime
) -> tuple[Condition, ...]:
    """The conditions with what is wrong: a reason, empty if nothing is, and what to say."""
    reason, message = problem
    ready = reason in ("", WHILE_RUNNING)
    claims = (
        ConditionClaim(HEALTHY, not reason, reason or WORKING, message),
        ConditionClaim(READY, ready, WORKING if ready else reason, "" if ready else message),
    )
    found = set_conditions(known, claims, generation=generation, now=now)
    return with_kstatus(found, KSTATUS, generation=generation, now=now)
