"""The condition of the further kinds, Healthy: is what they do going well? Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from quintant.api.meta import Condition, set_condition

HEALTHY = "Healthy"


def with_health(
    known: Sequence[Condition], problem: tuple[str, str], generation: int, now: datetime
) -> tuple[Condition, ...]:
    """The conditions with what is wrong: a reason, empty if nothing is, and what to say."""
    reason, said = problem
    return set_condition(
        known,
        HEALTHY,
        status=not reason,
        reason=reason or "Working",
        message=said,
        generation=generation,
        now=now,
    )
